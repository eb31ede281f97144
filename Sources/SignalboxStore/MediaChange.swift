package import Foundation
import SignalboxNotification

/// The new values of a URL's row when a download has ended.
package struct MediaChange: Sendable {
    /// The new value of a column.
    package enum Value: Sendable {
        case null
        case time(Date)
        case text(String?)
        /// Nil keeps the value of the column.
        case textIfAny(String?)
        /// One more than the value of the column.
        case oneMore
    }

    /// The new state of the URL.
    package let state: MediaURLRecord.State
    /// The other columns that change. The names are constant text, never input.
    package let columns: [(name: String, value: Value)]
    /// Whether the download has ended for the events that wait for it. False if it is retried or downloaded again.
    package private(set) var hasEnded = true
    /// Whether there is something to download at once.
    package private(set) var wakes = false

    /// `isKept`: whether an older file is stored. `keptStale` leaves it in use, `failed` removes it. `keptStale`
    /// without an older file is the same as `failed`.
    package init(_ end: MediaSettlement.End, isKept: Bool, at now: Date) {
        switch end {
        case .stored(let file, let freshness, let remarks):
            let (validators, codes) = (freshness.validators, remarks.map(\.rawValue).joined(separator: " "))
            state = .stored
            // A successful download clears the reason of an earlier failure.
            columns = [
                ("checked_at", .time(now)), ("fresh_until", .time(freshness.until)), ("etag", .text(validators.etag)),
                ("last_modified", .text(validators.lastModified)), ("sha256", .text(file.sha256)), ("reason", .null),
                ("words", .null), ("remarks", .text(codes.isEmpty ? nil : codes)),
            ]
        case .unchanged where !isKept:
            // The stored file was removed meanwhile.
            state = .wanted
            columns = [("due", .time(now)), ("etag", .null), ("last_modified", .null), ("sha256", .null)]
            hasEnded = false
            wakes = true
        case .unchanged(let freshness):
            state = .stored
            // A 304 response leaves out what stays as it was (RFC 9111, 4.3.4).
            columns = [
                ("checked_at", .time(now)), ("fresh_until", .time(freshness.until)),
                ("etag", .textIfAny(freshness.validators.etag)),
                ("last_modified", .textIfAny(freshness.validators.lastModified)), ("reason", .null), ("words", .null),
            ]
        case .retry(let wait, let failure):
            state = .resting
            columns = [
                ("due", .time(now + wait)), ("attempts", .oneMore), ("reason", .text(failure.code.rawValue)),
                ("words", .text(Self.words(of: failure))),
            ]
            hasEnded = false
        case .keptStale(let failure, let time) where isKept:
            state = .stored
            columns = [
                ("checked_at", .time(now)), ("fresh_until", .time(now + time)), ("attempts", .oneMore),
                ("reason", .text(failure.code.rawValue)), ("words", .text(Self.words(of: failure))),
            ]
        case .failed(let failure), .keptStale(let failure, _):
            state = .failed
            columns = [
                ("checked_at", .time(now)), ("fresh_until", .null), ("etag", .null), ("last_modified", .null),
                ("sha256", .null), ("remarks", .null), ("attempts", .oneMore),
                ("reason", .text(failure.code.rawValue)), ("words", .text(Self.words(of: failure))),
            ]
        }
    }

    /// The explanation, cut to ``StoreLimits/longestWords`` characters.
    private static func words(of failure: MediaFailure) -> String {
        String(failure.words.prefix(StoreLimits.longestWords))
    }
}
