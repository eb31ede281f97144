import Foundation
import SignalboxEgress

/// What a reply says of how long it may be used, read as a private cache does (RFC 9111). Pure.
struct CachingHeaders: Sendable, Equatable {
    /// Which headers these are.
    static let names = ["age", "date", "expires", "last-modified"]
    static let lists = ["cache-control"]

    /// A promise for longer than this is taken for this long, in seconds.
    static let longest: TimeInterval = 365 * 24 * 3600
    /// Nothing is kept longer than this on a guess.
    static let longestGuess: TimeInterval = 24 * 3600
    /// Where the server says nothing.
    static let usual: TimeInterval = 10 * 60

    private let control: CacheControl
    private let expires: String?
    private let lastModified: Date?
    private let date: Date
    private let age: TimeInterval
    private let receivedAt: Date

    /// `delay`: how long the reply may have been on its way.
    init(_ headers: [String: String], receivedAt: Date, delay: TimeInterval = 0) {
        control = CacheControl(headers["cache-control"] ?? "")
        expires = headers["expires"]
        lastModified = headers["last-modified"].flatMap { Date(http: $0) }
        let date = headers["date"].flatMap { Date(http: $0) }
        self.date = date ?? receivedAt
        self.receivedAt = receivedAt
        // Section 4.2.3.
        let apparentAge = max(0, receivedAt.timeIntervalSince(self.date))
        let told = headers["age"].flatMap { CacheControl.seconds($0) } ?? 0
        age = max(apparentAge, told + max(0, delay))
    }

    /// Whether it is to be kept for those only who asked for it now.
    var isForOnce: Bool { control.has("no-store") }

    /// Until when it may be used without asking again; nil when the server does not say.
    var promised: Date? {
        guard let seconds = promisedSeconds else { return nil }
        return receivedAt.addingTimeInterval(max(0, min(seconds, Self.longest) - age))
    }

    /// Until when it is used without asking again.
    var until: Date {
        if let promised { return promised }
        // A tenth of the time for which it has not changed (section 4.2.2).
        if let lastModified, lastModified < date {
            let guess = min(date.timeIntervalSince(lastModified) / 10, Self.longestGuess)
            return receivedAt.addingTimeInterval(max(0, guess - age))
        }
        return receivedAt.addingTimeInterval(Self.usual)
    }

    private var promisedSeconds: TimeInterval? {
        if control.has("no-store") || control.has("no-cache") { return 0 }
        // What cannot be read is over (sections 4.2.1 and 5.3).
        if control.has("max-age") { return control.value("max-age").flatMap { CacheControl.seconds($0) } ?? 0 }
        guard let expires else { return nil }
        return Date(http: expires).map { $0.timeIntervalSince(date) } ?? 0
    }
}
