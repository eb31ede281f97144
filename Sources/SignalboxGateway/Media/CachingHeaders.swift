import Foundation
import SignalboxEgress

/// How long a response may be used, read as a private cache does (RFC 9111). Pure.
struct CachingHeaders: Sendable, Equatable {
    /// The response headers that this reads: single ones, and lists.
    static let names = ["age", "date", "expires", "last-modified"]
    static let lists = ["cache-control"]

    /// The longest lifetime in seconds; a server's longer one is cut.
    static let longest: TimeInterval = 365 * 24 * 3600
    /// The longest lifetime derived from `Last-Modified`.
    static let longestGuess: TimeInterval = 24 * 3600
    /// The lifetime without any caching header.
    static let usual: TimeInterval = 10 * 60

    private let control: CacheControl
    private let expires: String?
    private let lastModified: Date?
    private let date: Date
    private let age: TimeInterval
    private let receivedAt: Date

    /// `delay`: seconds from the request to the response.
    init(_ headers: [String: String], receivedAt: Date, delay: TimeInterval = 0) {
        control = CacheControl(headers["cache-control"] ?? "")
        expires = headers["expires"]
        lastModified = headers["last-modified"].flatMap { Date(http: $0) }
        date = headers["date"].flatMap { Date(http: $0) } ?? receivedAt
        self.receivedAt = receivedAt
        // RFC 9111, 4.2.3.
        let apparentAge = max(0, receivedAt.timeIntervalSince(date))
        let statedAge = headers["age"].flatMap { CacheControl.seconds($0) } ?? 0
        age = max(apparentAge, statedAge + max(0, delay))
    }

    /// True when the response must not be stored for later requests.
    var isForOnce: Bool { control.has("no-store") }

    /// The end of the lifetime that the server states; nil if it states none.
    var promised: Date? {
        promisedSeconds.map { receivedAt.addingTimeInterval(max(0, min($0, Self.longest) - age)) }
    }

    /// The end of the lifetime, stated or derived.
    var until: Date {
        if let promised { return promised }
        guard let lastModified, lastModified < date else { return receivedAt.addingTimeInterval(Self.usual) }
        // A tenth of the time since the last change (RFC 9111, 4.2.2).
        let guess = min(date.timeIntervalSince(lastModified) / 10, Self.longestGuess)
        return receivedAt.addingTimeInterval(max(0, guess - age))
    }

    private var promisedSeconds: TimeInterval? {
        if control.has("no-store") || control.has("no-cache") { return 0 }
        // A malformed lifetime is over (RFC 9111, 4.2.1 and 5.3).
        if control.has("max-age") { return control.value("max-age").flatMap { CacheControl.seconds($0) } ?? 0 }
        return expires.map { Date(http: $0)?.timeIntervalSince(date) ?? 0 }
    }
}

/// The directives of a `Cache-Control` (RFC 9111, 5.2). Names have any case, values are tokens or quoted. The first of
/// equal names counts.
private struct CacheControl: Sendable, Equatable {
    private var directives: [String: String?] = [:]

    init(_ text: String) {
        for part in Self.parts(Array(text.utf8)) {
            let pair = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
                .map { String(decoding: $0, as: UTF8.self).trimmingCharacters(in: .whitespaces) }
            let name = pair[0].lowercased()
            guard !name.isEmpty, directives[name] == nil else { continue }
            directives.updateValue(pair.count == 2 ? Self.unquoted(pair[1]) : nil, forKey: name)
        }
    }

    func has(_ name: String) -> Bool { directives[name] != nil }

    func value(_ name: String) -> String? { directives[name] ?? nil }

    /// A number of seconds; large ones saturate (RFC 9111, 1.2.2).
    static func seconds(_ text: String) -> TimeInterval? {
        let digits = text.trimmingCharacters(in: .whitespaces)
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return TimeInterval(min(Int(digits) ?? .max, 1 << 31))
    }

    /// The parts between commas outside of quotes.
    private static func parts(_ text: [UInt8]) -> [ArraySlice<UInt8>] {
        var (isQuoted, isEscaped) = (false, false)
        return text.split { byte in
            defer { isEscaped = isQuoted && !isEscaped && byte == UInt8(ascii: "\\") }
            if byte == UInt8(ascii: "\""), !isEscaped { isQuoted.toggle() }
            return byte == UInt8(ascii: ",") && !isQuoted
        }
    }

    private static func unquoted(_ text: String) -> String {
        guard text.utf8.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return text }
        return String(text.dropFirst().dropLast())
    }
}
