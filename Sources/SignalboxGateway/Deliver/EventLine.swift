import SignalboxNotification

/// Formats an event in a few lines for a terminal. The terminal inbox and `signalbox listen` use it.
package struct EventLine {
    private let bold: String
    private let dim: String
    private let plain: String

    /// `color`: use escape sequences. Without color the text has no escape sequences at all.
    package init(color: Bool) {
        (bold, dim, plain) = color ? ("\u{1B}[1m", "\u{1B}[2m", "\u{1B}[0m") : ("", "", "")
    }

    /// The lines of an event, or of a body that is not an event, each with its line end. Control characters become
    /// spaces, because payloads are not trusted. Works for every event of the gateway, including redacted and
    /// transformed events, whose members may be missing.
    package func text(_ body: [UInt8]) -> String {
        guard let event = EventDocument(body), event.json("data") != nil else {
            return "\(body.count) bytes that are not an event\n"
        }
        var text = "\(bold)\(Self.printable(event.text("subject") ?? "?"))\(plain)"
        if let title = event.text("data", "content", "title") ?? event.text("data", "content", "body") {
            text += "  \(Self.printable(title))"
        }
        text += "  \(dim)\(Self.printable(event.text("time") ?? ""))\(plain)\n"
        for (name, value) in details(event) + [("id", event.text("id") ?? "?")] {
            text += "    \(dim)\(name)\(plain) \(Self.printable(value))\n"
        }
        return text
    }

    /// Names and values in the order of the output. Members that the event lacks are left out.
    private func details(_ event: EventDocument) -> [(String, String)] {
        func action(_ type: String?, _ value: String?) -> String { (type ?? "?") + (value.map { " " + $0 } ?? "") }
        var details: [(String, String)] = []
        if event.json("data", "content", "title") != nil, let body = event.text("data", "content", "body") {
            details.append(("body", body))
        }
        if event.json("data", "action") != nil {
            details.append(("tap", action(event.text("data", "action", "type"), event.text("data", "action", "value"))))
        }
        let buttons = event.elements(["data", "category", "actions"], "title", "type", "value").map {
            "[\($0[0] ?? "?")] \(action($0[1], $0[2]))"
        }
        if !buttons.isEmpty { details.append(("buttons", buttons.joined(separator: "  "))) }
        for url in event.elements(["data", "media"], "url").compactMap(\.[0]) { details.append(("media", url)) }
        for code in event.elements(["data", "warnings"], "code").compactMap(\.[0]) { details.append(("warning", code)) }
        return details
    }

    /// True for characters that could change the terminal or the direction of the text.
    static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        // Joiners combine letters and emoji; other format characters change the text direction.
        case .format: scalar.value != 0x200C && scalar.value != 0x200D
        default: false
        }
    }

    /// Each such scalar becomes one space.
    package static func printable(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { isControl($0) ? " " : $0 }))
    }
}
