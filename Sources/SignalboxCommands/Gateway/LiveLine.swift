import SignalboxGateway
import SignalboxJSON

/// A frame of the live stream as `signalbox tail` prints it.
package enum LiveLine {
    /// One line of JSON: the name of the frame and its data. Data that is not JSON becomes a string.
    static func json(_ frame: ServerSentEvents.Frame) -> String {
        let data = JSONParser.read(Array(frame.data.utf8)) { JSONText($0) }
        return JSONText.members { json in
            json.member("frame", frame.name)
            if let data { json.member("data", data) } else { json.member("data", frame.data) }
        }
    }

    /// One line for people. Control characters become spaces, because payloads are not trusted.
    static func text(_ frame: ServerSentEvents.Frame) -> String {
        JSONParser.read(Array(frame.data.utf8)) { root in
            guard root.isObject else { return nil }
            func value(_ name: String) -> String? { root.member(name)?.string }
            func number(_ name: String) -> String? { root.member(name).map { JSONText($0).string } }
            let parts: [String?] =
                switch frame.name {
                case "event": [value("subject"), value("title"), "-> " + routes(root), value("id")]
                case "delivery":
                    [
                        value("destination"), value("outcome"), number("status") ?? value("error"),
                        number("durationMs").map { "\($0) ms" }, number("attempt").map { "attempt \($0)" },
                        value("reason"), value("event"),
                    ]
                case "destination": [value("name"), value("state"), value("reason")]
                case "gap": ["(\(number("dropped") ?? "?") not shown)"]
                default: [frame.data]
                }
            let text = parts.compactMap(\.self).joined(separator: "  ")
            guard frame.name != "gap" else { return text }
            let name = frame.name + String(repeating: " ", count: max(0, 11 - frame.name.count))
            return EventLine.printable("\(time(value("time") ?? value("at")))  \(name)  \(text)")
        } ?? EventLine.printable(frame.data)
    }

    /// The names with commas between them, or `no route`.
    private static func routes(_ root: JSONValue) -> String {
        let names = root["routes"]?.elements.compactMap(\.string) ?? []
        return names.isEmpty ? "no route" : names.joined(separator: ", ")
    }

    /// The time of day of an RFC 3339 time in UTC. Spaces of the same width for a frame without a time, so that columns
    /// stay in line.
    private static func time(_ text: String?) -> String {
        guard let text, let start = text.firstIndex(of: "T") else { return "            " }
        return String(text[text.index(after: start)...].prefix { $0 != "Z" })
    }
}
