import SignalboxConfig
import SignalboxGateway
import SignalboxInApp
import SignalboxJSON
import SignalboxNotification
import SignalboxRouting
import SignalboxStore

/// Reads the conditions on events from the parameters and the body of a request.
package enum EventQuery {
    /// The parameters of lists of events.
    static let parameters: [QueryParameter] = [
        QueryParameter("vendor", .text, "Events of this vendor"), QueryParameter("kind", .text, kindPurpose),
        QueryParameter("source", .text, "Events of this source"),
        QueryParameter("type", .text, "Events with this CloudEvents type"),
        QueryParameter("warning", .text, "Events with a warning of this code"),
        QueryParameter("routed", .words(["none"]), "Events without a delivery"), .since, .until, .limit, .cursor,
    ]
    private static let kindPurpose = "Events of this kind, such as `alert`; of dead-letter events, the destination"
    /// The kinds of notifications and of in-app events, and the outcomes of forwarded pushes, sorted. Dead-letter
    /// events have the name of a destination instead of a kind.
    package static let kinds: [String] = {
        let words: [[String]] = [
            PushNotification.Kind.allCases.map(\.rawValue), Message.Kind.allCases.map(\.rawValue),
            PushVerdict.Outcome.allCases.map(\.rawValue), [Record.Kind.noMatch.rawValue],
        ]
        return Set(words.joined()).sorted()
    }()
    /// The words that events about destinations and about forwarded pushes have instead of a vendor.
    package static let ownVendors = ["destination"] + ForwardedPush.Provider.allCases.map(\.rawValue)
    /// An EventBridge pattern over the whole event.
    static let pattern = QueryParameter("pattern", .text, "Events that this pattern matches: JSON, percent-encoded")
    /// Parameters whose conditions are examined in the bytes of events.
    static let examined = parameters.filter { ["type", "warning"].contains($0.name) } + [pattern]
    /// The largest body in bytes.
    static let bodyLimit = 256 * 1024
    /// In cursors of events.
    static let list: StaticString = "e"

    /// The conditions of a request. `body`: `{"pattern": …}`, or empty. Throws 400 for an invalid value, and
    /// ``Problem/contentHidden`` for a pattern of an operator who may not read content, because its matches would
    /// reveal content.
    static func filter(_ call: Call, _ body: [UInt8]) throws(Problem) -> EventFilter {
        var (filter, test) = (EventFilter(), EventTest())
        (filter.vendor, filter.kind) = (call.query("vendor"), call.query("kind"))
        filter.source = call.query("source").map { SourceName($0) }
        (filter.acceptedSince, filter.acceptedBefore) = (try call.time("since"), try call.time("until"))
        filter.before = try call.number(in: list)
        if let routed = call.query("routed") {
            guard routed == "none" else { throw .badQuery("Unknown routed \(routed.prefix(100)): write none.") }
            filter.isUnrouted = true
        }
        (test.type, test.warning) = (call.query("type"), call.query("warning"))
        test.pattern =
            if let text = call.query("pattern") { try read(Array(text.utf8), at: "") } else {
                try patternOfBody(body)
            }
        if test.pattern != nil, call.hidesContent { throw .contentHidden }
        filter.matches = test.test
        return filter
    }

    /// Nil for an empty body, and for an object without a pattern.
    private static func patternOfBody(_ body: [UInt8]) throws(Problem) -> Pattern? {
        guard !body.isEmpty else { return nil }
        let text = try JSONBody.read(
            body, known: ["pattern"], syntax: Problem.patternSyntax, refuse: { .pattern($0, at: $1) }
        ) { root throws(Problem) in root["pattern"].map { JSONText($0) } }
        return try text.map { text throws(Problem) in try read(text.bytes, at: "/pattern") }
    }

    /// `pointer`: of the pattern in its request. Throws 400 with the first mistake.
    private static func read(_ text: [UInt8], at pointer: String) throws(Problem) -> Pattern {
        do throws(InvalidConfig) { return try Pattern(text: text) } catch {
            let mistake = error.firstError
            // Positions in a body would be those of its compact form.
            let position = pointer.isEmpty ? mistake.position : nil
            throw .badPattern(mistake.message, at: pointer + mistake.pointer, position)
        }
    }
}
