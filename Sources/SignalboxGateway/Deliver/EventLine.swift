import Foundation
import SignalboxJSON

/// Formats an event in a few lines for a terminal.
package struct EventLine {
    private let parser = JSONParser()
    private let bold: String
    private let dim: String
    private let plain: String

    /// `color`: use escape sequences.
    package init(color: Bool) {
        (bold, dim, plain) = color ? ("\u{1B}[1m", "\u{1B}[2m", "\u{1B}[0m") : ("", "", "")
    }

    /// The lines of an event, or of a body that is not an event, each with its line end.
    package func text(_ body: [UInt8]) -> String {
        parser.reset()
        guard let event = try? parser.parse(body), let data = event["data"] else {
            return "\(body.count) bytes that are not an event\n"
        }
        let subject = event["subject"]?.string ?? "?"
        let time = event["time"]?.string ?? ""
        let title = data["content"]?["title"]?.string ?? data["content"]?["body"]?.string
        var text = "\(bold)\(printable(subject))\(plain)"
        if let title { text += "  \(printable(title))" }
        text += "  \(dim)\(printable(time))\(plain)\n"
        for (name, value) in details(data) { text += "    \(dim)\(name)\(plain) \(printable(value))\n" }
        return text + "    \(dim)id\(plain) \(printable(event["id"]?.string ?? "?"))\n"
    }

    private func details(_ data: JSONValue) -> [(String, String)] {
        var details: [(String, String)] = []
        if data["content"]?["title"] != nil, let body = data["content"]?["body"]?.string {
            details.append(("body", body))
        }
        if let action = data["action"] { details.append(("tap", describe(action))) }
        if let buttons = data["category"]?["actions"] {
            let words = buttons.elements.map { "[\($0["title"]?.string ?? "?")] \(describe($0))" }
            if !words.isEmpty { details.append(("buttons", words.joined(separator: "  "))) }
        }
        for media in data["media"]?.elements.map(\.self) ?? [] {
            if let url = media["url"]?.string { details.append(("media", url)) }
        }
        for warning in data["warnings"]?.elements.map(\.self) ?? [] {
            if let code = warning["code"]?.string { details.append(("warning", code)) }
        }
        return details
    }

    private func describe(_ action: JSONValue) -> String {
        let type = action["type"]?.string ?? "?"
        return action["value"]?.string.map { "\(type) \($0)" } ?? type
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        // Joiners combine letters and emoji; other format characters change the text direction.
        case .format: scalar.value != 0x200C && scalar.value != 0x200D
        default: false
        }
    }

    /// Removes control characters: payloads are not trusted and must not control the terminal.
    private func printable(_ text: String) -> String {
        String(
            String.UnicodeScalarView(text.unicodeScalars.map { Self.isControl($0) ? " " : $0 }))
    }
}
