package import Foundation
package import SignalboxJSON

/// A stored event, parsed: the reader of events for every flow after the routes.
///
/// Owns the memory that it reads. Not `Sendable`: one task uses it at a time.
package struct EventDocument {
    private let parser: JSONParser
    /// A view into the parser's buffers: use it only through ``withRoot(_:)``, which keeps the parser alive.
    let root: JSONValue

    /// Keys that lead to a value, from the event itself: `["data", "content", "title"]`.
    package typealias Path = [StaticString]

    /// The limits of events: an event may be longer than its payload (4 MiB) and is a few levels deeper (128).
    package static let limits: JSONParser.Limits = {
        var limits = JSONParser.Limits()
        limits.bytes = 64 * 1024 * 1024
        return limits
    }()

    /// Nil unless the bytes are JSON within ``limits``. Every event that the gateway stored is.
    package init?(_ bytes: [UInt8]) {
        self.init(bytes, with: JSONParser(limits: Self.limits))
    }

    /// The same, in the memory of a parser that was reset. Valid until the parser reads another text or is reset.
    package init?(_ bytes: [UInt8], with parser: JSONParser) {
        self.parser = parser
        guard let root = try? parser.parse(bytes) else { return nil }
        self.root = root
    }

    /// Calls `body` with the event's value and its parser, for patterns and templates. Both are valid during the call.
    package func withRoot<R, E: Error>(_ body: (JSONValue, JSONParser) throws(E) -> R) throws(E) -> R {
        defer { withExtendedLifetime(parser) {} }
        return try body(root, parser)
    }

    /// The value at a path of keys. Arrays have no keys, so a path into one leads to nil.
    private func value(_ path: Path) -> JSONValue? { path.reduce(root) { (value: JSONValue?, key) in value?[key] } }

    /// A string; nil when there is none at this path.
    package func text(_ path: StaticString...) -> String? { withRoot { _, _ in value(path)?.string } }

    /// Any value, as compact JSON text; nil when there is none at this path.
    package func json(_ path: StaticString...) -> JSONText? { withRoot { _, _ in value(path).map { JSONText($0) } } }

    /// Strings of the elements of an array: for each element the members with these names, nil for those without.
    /// Empty when there is no array at this path.
    package func elements(_ path: Path, _ names: StaticString...) -> [[String?]] {
        withRoot { _, _ in
            value(path)?.elements.map { element in names.map { element[$0]?.string } } ?? []
        }
    }

    /// The CloudEvents attributes and extensions, in order, without `data`. Strings as they are; other values as their
    /// JSON text, which is how CloudEvents spells booleans and integers.
    package var attributes: [(name: String, text: String)] {
        withRoot { root, _ in
            root.members.filter { !$0.key.equals("data") }.map { key, value in
                (String(decoding: key, as: UTF8.self), value.string ?? JSONText(value).string)
            }
        }
    }

    /// True if the value has the required attributes of a CloudEvent, which no payload has.
    package var isCloudEvent: Bool {
        text("specversion") != nil && text("id") != nil && text("source") != nil && text("type") != nil
    }

    /// This event as a new one, for a notification that was snoozed. `snoozedfrom` is the id of the first event, also
    /// after several snoozes: a receiver must not treat the new event as a repeat.
    package func snoozed(as id: EventID, at time: Date) -> [UInt8] {
        withRoot { root, _ in
            return .jsonObject(capacity: 4096) { json in
                for (key, value) in root.members where !key.equals("snoozedfrom") {
                    json.key(utf8: key)
                    if key.equals("id") {
                        json.id(id)
                    } else if key.equals("time") {
                        json.string(Timestamp(time).text)
                        json.member("snoozedfrom", text("snoozedfrom") ?? text("id"))
                    } else {
                        json.value(value)
                    }
                }
            }
        }
    }
}
