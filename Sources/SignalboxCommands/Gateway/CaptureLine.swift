import SignalboxGateway
import SignalboxJSON

/// Formats captures of the API for a terminal.
enum CaptureLine {
    /// Characters of a token's hash.
    private static let shownToken = 20

    /// One line without its end. Control characters become spaces, because pushes are not trusted.
    static func text(_ capture: JSONText) -> String { read(capture) { line($0) } }

    /// The line of a near miss, with its reason. `nearMiss`: the object of the API.
    static func text(nearMiss: JSONText) -> String {
        read(nearMiss) { nearMiss in
            let reason = EventLine.printable(nearMiss["reason"]?.string ?? "")
            return nearMiss["capture"].map { "\(line($0))\n    \(reason)" } ?? reason
        }
    }

    private static func line(_ capture: JSONValue) -> String {
        func text(_ name: StaticString) -> String? { capture[name]?.string }
        let event = capture["event"]
        let status = capture["status"]?.integer.map { String($0) }
        let detail = text("detail").map { "(\($0))" }
        let answer = [status, text("outcome"), text("reason"), detail].compactMap { $0 }.joined(separator: " ")
        let token = text("token").map { $0.count > shownToken ? "\($0.prefix(shownToken))…" : $0 }
        let topic = text("topic") ?? text("condition") ?? text("channel") ?? text("project")
        let content = event?["data"]?["content"]
        let parts: [String?] = [
            text("time"), answer, text("platform"), text("source"), text("run").map { "run \($0)" }, topic, token,
            event?["subject"]?.string, (content?["title"] ?? content?["body"])?.string, text("eventId"),
        ]
        return EventLine.printable(parts.compactMap { $0 }.joined(separator: "  "))
    }

    private static func read(_ json: JSONText, _ body: (JSONValue) -> String) -> String {
        ParserPool.events.withParser { parser in
            do throws(JSONError) {
                return body(try parser.parse(json.bytes))
            } catch {
                return EventLine.printable(json.string)
            }
        }
    }
}
