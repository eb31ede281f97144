import Logging
import SignalboxNotification

/// The lines of ``LogFormat/json``.
extension LineLogHandler {
    /// The field that becomes a member of its own.
    static let traceField = "trace_id"

    /// One JSON object with a line end. `target` is the part of the program, such as `gateway`. `trace_id` is absent
    /// for a message without a trace. Values of `fields` are strings, sorted by name.
    ///
    ///     {"time":"2026-11-22T15:15:50.417Z","level":"warning","message":"Delivery moved to dead letters.",
    ///      "target":"gateway","fields":{"destination":"crm","reason":"answered 400"}}
    func jsonLine(of event: LogEvent, at time: Timestamp) -> String {
        var fields = fields(of: event)
        let trace = fields.removeValue(forKey: Self.traceField)
        var members = [
            ("time", time.text), ("level", "\(event.level)"), ("message", event.message.description),
            ("target", Self.target(event.source)),
        ]
        if let trace { members.append((Self.traceField, trace.description)) }
        let list = fields.sorted { $0.key < $1.key }.map { ($0.key, $0.value.description) }
        return "{\(Self.text(members)),\"fields\":{\(Self.text(list))}}\n"
    }

    /// Members of an object without its braces, in the given order. Each value is cut after ``longest`` characters.
    private static func text(_ members: [(name: String, value: String)]) -> String {
        members.map { "\(quoted($0.name)):\(quoted($0.value))" }.joined(separator: ",")
    }

    /// The module without the name of the product, in lower case.
    private static func target(_ module: String) -> String {
        let name = module.lowercased()
        let product = "signalbox"
        return name.hasPrefix(product) && name.count > product.count ? String(name.dropFirst(product.count)) : name
    }
}
