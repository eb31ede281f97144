import Foundation
import Hummingbird
import NIOCore
import SignalboxConfig
import SignalboxNotification
import SignalboxStore

/// A request to an endpoint. Its access was checked.
struct Call: Sendable {
    /// Its body is read at most once, before the handler runs.
    let request: Request
    /// Parameters of the path and the peer.
    let context: GatewayRequestContext
    /// The source of a request to an endpoint for sources; otherwise the default source.
    var source = SourceName.default
    /// The operator of a request to an endpoint for operators; nil for all others.
    var actor: Operator?
    /// The change that the endpoint makes; nil for none.
    var operation: Endpoint.Operation?
    /// Values from the body for the row of the action log; nil for an endpoint that changes nothing.
    var details: ActionDetails?

    /// A part of the path, as the client wrote it. Not decoded; empty for a name that the path does not have. Values
    /// of `{source}`, `{name}` and `{id}` need no decoding, because names and numbers have no escapes.
    func path(_ name: String) -> String { context.parameters.get(name) ?? "" }

    /// A query parameter; nil when it is absent. Decoded by Hummingbird. An empty value is returned as an empty text,
    /// not as nil.
    func query(_ name: String) -> String? { request.uri.queryParameters[name[...]].map(String.init) }

    /// A whole-number query parameter; nil when it is absent. Throws ``Problem/badQuery(_:)`` for text that is not a
    /// number in the range. The sentence of the problem names the range.
    func number(_ name: String, in range: ClosedRange<Int>) throws(Problem) -> Int? {
        guard let text = query(name) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw .badQuery("\(name) is \(text): write a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    /// A time; nil when it is absent. Throws ``Problem/badQuery(_:)`` for text that is not RFC 3339.
    func time(_ name: String) throws(Problem) -> Date? {
        try query(name).map { text throws(Problem) in try Self.time(text, named: name) }
    }

    /// Reads RFC 3339. `name`: of the parameter, for the problem.
    static func time(_ text: String, named name: String) throws(Problem) -> Date {
        guard let time = Array(text.utf8).withUnsafeBufferPointer({ Timestamp(iso8601: $0) }) else {
            throw .badQuery("\(name) is not a time: write it as 2026-11-27T08:00:00Z (RFC 3339).")
        }
        return time.date
    }

    /// The number of entries of a page: the parameter `limit`, 50 by default.
    func pageSize() throws(Problem) -> Int { try number("limit", in: 1...QueryParameter.largestPage) ?? 50 }

    /// The source of a payload that is only examined; it need not be in the config. Throws
    /// ``Problem/badQuery(_:)`` for text that is not a name.
    func trialSource() throws(Problem) -> SourceName {
        let source = query("source") ?? SourceName.default.name
        guard NameRule.allows(source) else { throw .badQuery("source is not a name: \(NameRule.words).") }
        return SourceName(source)
    }

    /// The row of the action log for this request; nil for an endpoint that changes nothing, and before its actor is
    /// known. The target is the last parameter of the path.
    var action: OperatorAction? { action(result: "done") }

    /// The same for a refused request. `result`: the code of the problem. Its parameters are those of the query, and
    /// the details of the body. The reason is separate.
    func action(result: String) -> OperatorAction? {
        guard let operation, let actor else { return nil }
        var parameters: [String: String] = [:]
        for (name, value) in request.uri.queryParameters where name != "reason" {
            parameters[String(name)] = String(value)
        }
        if let details { parameters.merge(details.parameters) { $1 } }
        let target = ["id", "name"].lazy.compactMap { context.parameters.get($0) }.first
        return OperatorAction(
            by: actor.name, role: actor.role.rawValue, remote: context.channel.remoteAddress?.ipAddress, via: .api,
            operation.name, target: target.map { $0.removingPercentEncoding ?? $0 }, parameters: parameters,
            reason: reason, result: result)
    }

    /// Whether the request only counted what a change would touch.
    var isPreview: Bool { details?.parameters[Self.preview] != nil }

    /// The parameter that marks a preview in ``ActionDetails``.
    static let preview = "dryRun"

    /// The reason that the actor gave, in the body or in the query.
    var reason: String? { details?.reason ?? query("reason") }

    /// Whether the response must not have texts of notifications.
    var hidesContent: Bool { actor.map { !$0.readsContent } ?? false }
}
