import Foundation
import SignalboxEgress
import SignalboxJSON
import SignalboxNotification

/// The consequence of a collector's answer. Pure: the caller passes the time and the random number.
/// Source: github.com/open-telemetry/opentelemetry-proto, docs/specification.md, "OTLP/HTTP Response"
enum ExportDecision: Sendable, Equatable {
    /// The collector has the values, except for some that it rejected and that must not be sent again.
    case accepted(rejected: Int)
    /// The same values may be sent again after this time. `reason`: for the log.
    case retry(after: Duration, reason: String)
    /// The values must not be sent again. `reason`: for the log.
    case drop(reason: String)

    /// The most attempts of one request.
    static let mostAttempts = 8
    /// The longest wait that a collector may request, in seconds.
    static let longestWait: TimeInterval = 300
    /// The longest backoff, in seconds.
    private static let longestBackoff: TimeInterval = 60
    /// Statuses after which a request may be repeated.
    private static let temporary: Set<Int> = [429, 502, 503, 504]

    /// `count`: the values of the request. A collector cannot reject more of them. `attempt`: the number of this
    /// attempt, from 1. `random`: in 0..<1. A collector's `Retry-After` replaces the backoff, which doubles from one
    /// second.
    init(
        _ answer: Result<OutboundReply, TransportError>, to count: Int, attempt: Int, now: Date, random: Double
    ) {
        switch answer {
        case .success(let reply) where (200..<300).contains(reply.status):
            self = .accepted(rejected: min(count, Self.rejected(reply.excerpt)))
        case .success(let reply):
            let reason = "answered \(reply.status)"
            guard Self.temporary.contains(reply.status), attempt < Self.mostAttempts else {
                self = .drop(reason: reason)
                return
            }
            let requested = reply.retryAfter.map { min($0.delay(from: now), Self.longestWait) }
            self = .retry(after: .seconds(requested ?? Self.backoff(attempt, random)), reason: reason)
        case .failure(let error):
            guard error.isTemporary, attempt < Self.mostAttempts else {
                self = .drop(reason: error.description)
                return
            }
            self = .retry(after: .seconds(Self.backoff(attempt, random)), reason: error.description)
        }
    }

    /// Half of it is random, so that gateways do not return to a collector together.
    private static func backoff(_ attempt: Int, _ random: Double) -> TimeInterval {
        min(longestBackoff, pow(2, TimeInterval(min(attempt - 1, 16)))) * (0.5 + random / 2)
    }

    /// The number of rejected values of a partial success; 0 for any other body.
    private static func rejected(_ body: [UInt8]) -> Int {
        guard let reply = EventDocument(body) else { return 0 }
        let count = reply.json("partialSuccess", "rejectedSpans") ?? reply.json("partialSuccess", "rejectedDataPoints")
        // A string or a number: the mapping of Protobuf to JSON allows both.
        return count.flatMap { Int($0.string.filter { $0 != "\"" }) }.map { max(0, $0) } ?? 0
    }
}
