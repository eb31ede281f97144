import Foundation
import Hummingbird
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxStore

/// The ledger of deliveries, and the list of media, for operators.
struct LedgerAPI: Sendable {
    let queue: any InspectionStore
    /// Makes the links to stored files.
    var links = MediaLinks(publicUrl: nil)
    /// Schedules the deadlines of requests.
    var delayed = DelayedCall.onQueue

    // MARK: Ledger

    /// The numbers of the ledger, which `signalbox audit` compares with the stored deliveries. Removed deliveries count
    /// in their last state, so the states and `missing` sum up to `accepted`. Throws 503 when the queue does not
    /// answer. `consistent` is false if the queue misses a delivery of any destination.
    func ledger() async throws -> Response {
        let accounts = try await delayed.reply { () throws(StoreError) in try await queue.accounts() }
        return .json { json in
            json.member("consistent", accounts.allSatisfy { $0.missing == 0 })
            json.array("destinations", of: accounts) { $0.account($1) }
        }
    }

    // MARK: Media

    /// In cursors of files and of URLs.
    private static let (files, urls): (StaticString, StaticString) = ("f", "u")

    /// Stored files in the order in which they were stored, or URLs that are downloaded or failed, the newest first.
    /// Throws 400 for an invalid query, and 503 when the queue does not answer.
    func media(_ call: Call) async throws -> Response {
        let limit = try call.pageSize()
        switch call.query("state") ?? "stored" {
        case "stored": return try await listFiles(call, limit)
        case "wanted": return try await listURLs([.wanted, .resting], call, limit)
        case "failed": return try await listURLs([.failed], call, limit)
        case let other: throw Problem.badQuery("Unknown state \(other.prefix(100)): write stored, wanted or failed.")
        }
    }

    /// Reads one file more than the page has, which tells whether a next page exists.
    private func listFiles(_ call: Call, _ limit: Int) async throws(Problem) -> Response {
        let after = try call.number(in: Self.files) ?? 0
        let records = try await delayed.reply { () throws(StoreError) in
            try await queue.mediaFiles(numberedAfter: after, limit: limit + 1)
        }
        let now = Date()
        return .json { json in
            json.array("media", of: records.prefix(limit)) { json, record in
                let href = call.hidesContent ? nil : links.href(record.file.sha256, now: now)
                json.file(record, href: href, hidesPath: call.hidesContent)
            }
            json.next(records.prefix(limit).last?.id, of: records.count > limit, Self.files)
        }
    }

    /// Newest first. `wanted` selects URLs that rest after a failed download too.
    private func listURLs(
        _ states: Set<MediaURLRecord.State>, _ call: Call, _ limit: Int
    ) async throws(Problem) -> Response {
        let before = try call.number(in: Self.urls)
        let records = try await delayed.reply { () throws(StoreError) in
            try await queue.mediaURLs(states, before: before, limit: limit + 1)
        }
        return .json { json in
            json.array("media", of: records.prefix(limit)) { $0.download($1, hidesPath: call.hidesContent) }
            json.next(records.prefix(limit).last?.id, of: records.count > limit, Self.urls)
        }
    }
}

extension JSONWriter {
    /// The cursor of the next page, if there is one.
    fileprivate mutating func next(_ id: Int64?, of hasMore: Bool, _ list: StaticString) {
        if let id, hasMore { member("next", PageCursor.text(String(id), in: list)) }
        member("complete", true)
    }

    /// A stored file. `usedAt` is exact to the hour. `href`: a link to the file; nil for a reader without content.
    fileprivate mutating func file(_ record: MediaFileRecord, href: String?, hidesPath: Bool) {
        object { json in
            json.member("state", MediaURLRecord.State.stored.rawValue)
            json.members(of: record.file, hidesDigest: hidesPath)
            json.member("keptAt", record.keptAt)
            json.member("usedAt", record.usedAt)
            json.member("href", href)
            json.member("urls", record.urls.map { hidesPath ? ContentMask.link($0) : $0 })
        }
    }

    /// A URL whose download is due or failed. Has `failedAt` in the state `failed`, otherwise `due`.
    fileprivate mutating func download(_ record: MediaURLRecord, hidesPath: Bool) {
        object { json in
            json.member("state", record.state.rawValue)
            json.member("url", hidesPath ? ContentMask.link(record.url) : record.url)
            json.member("attempts", record.attempts)
            let isFailed = record.state == .failed
            json.member(isFailed ? "failedAt" : "due", isFailed ? record.checkedAt ?? record.wantedAt : record.due)
            json.member("reason", record.failure?.code.rawValue)
            // The words may name a path of the URL, and the digest is enough to fetch the file.
            if !hidesPath {
                json.member("detail", record.failure?.words)
                json.member("sha256", record.sha256)
            }
        }
    }
}
