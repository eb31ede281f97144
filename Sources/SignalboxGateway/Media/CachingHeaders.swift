import Foundation
import SignalboxEgress

/// How long a response may be used, read as a private cache does (RFC 9111). Pure. The gateway stores the file itself
/// for events; the lifetime only decides when the next request goes to its server.
struct CachingHeaders: Sendable {
    /// The response headers that this reads: single ones, and lists.
    static let names = ["age", "date", "expires"]
    static let lists = ["cache-control"]

    /// The longest lifetime in seconds; a server's longer one is cut.
    static let longest: TimeInterval = 365 * 24 * 3600
    /// The lifetime when the server states none.
    static let usual: TimeInterval = 10 * 60

    /// True when the response must not be stored for later requests.
    let isForOnce: Bool
    /// The end of the lifetime that the server states; nil if it states none.
    let promised: Date?
    /// The end of the lifetime, stated or not.
    let until: Date

    /// `delay`: seconds from the request to the response. `headers`: names in lower case, the values as
    /// ``OutboundReply/headers`` has them. A missing `Date` counts as `receivedAt`.
    init(_ headers: [String: String], receivedAt: Date, delay: TimeInterval = 0) {
        let control = Self.directives(headers["cache-control"] ?? "")
        let date = headers["date"].flatMap { Date(http: $0) } ?? receivedAt
        isForOnce = control["no-store"] != nil
        // A malformed lifetime is over (RFC 9111, 4.2.1 and 5.3).
        let seconds: TimeInterval? =
            if isForOnce || control["no-cache"] != nil {
                0
            } else if let age = control["max-age"] {
                Self.seconds(age) ?? 0
            } else {
                headers["expires"].map { Date(http: $0)?.timeIntervalSince(date) ?? 0 }
            }
        // RFC 9111, 4.2.3.
        let statedAge = headers["age"].flatMap(Self.seconds) ?? 0
        let age = max(0, receivedAt.timeIntervalSince(date), statedAge + max(0, delay))
        promised = seconds.map { receivedAt.addingTimeInterval(max(0, min($0, Self.longest) - age)) }
        until = promised ?? receivedAt.addingTimeInterval(Self.usual)
    }

    /// The directives of a `Cache-Control` by name, in lower case (RFC 9111, 5.2). The first of equal names counts; a
    /// directive without a value has an empty one. Splits at commas outside of quoted strings.
    private static func directives(_ text: String) -> [String: String] {
        var (isQuoted, isEscaped) = (false, false)
        let parts = text.utf8.split { byte in
            defer { isEscaped = isQuoted && !isEscaped && byte == UInt8(ascii: "\\") }
            if byte == UInt8(ascii: "\""), !isEscaped { isQuoted.toggle() }
            return byte == UInt8(ascii: ",") && !isQuoted
        }
        let directives = parts.map { part in
            let pair = String(Substring(part)).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = pair.count == 2 ? pair[1].trimmingCharacters(in: .whitespaces) : ""
            let isWhole = value.utf8.count >= 2 && value.hasPrefix("\"") && value.hasSuffix("\"")
            return (
                pair[0].trimmingCharacters(in: .whitespaces).lowercased(),
                isWhole ? String(value.dropFirst().dropLast()) : value
            )
        }
        return Dictionary(directives) { first, _ in first }
    }

    /// A number of seconds; large ones saturate (RFC 9111, 1.2.2). Nil for anything but digits, with spaces around
    /// them.
    private static func seconds(_ text: String) -> TimeInterval? {
        let digits = text.trimmingCharacters(in: .whitespaces)
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return TimeInterval(min(Int(digits) ?? .max, 1 << 31))
    }
}
