import SignalboxEgress
import SignalboxNotification

/// The parts of an event that a message in a chat shows, without escaping.
///
/// Texts have no control characters except line feeds, and more than white space. Works for every event of the gateway,
/// including redacted and transformed events, whose members may be missing.
struct ChatSummary {
    /// The first text of the event; its subject or type if it has none.
    let title: String
    /// The other texts, one a line.
    let body: String?
    /// The subject of the event and the name of its source.
    let origin: String
    /// The link that a tap opens: http or https.
    let link: String?
    /// The first image: https, because services load it themselves.
    let image: String?

    init(_ event: EventDocument) {
        let subject = Self.text(event.text("subject")) ?? Self.text(event.text("type")) ?? "event"
        let texts = Self.texts(event).compactMap(Self.text)
        title = texts.first ?? subject
        body = texts.count > 1 ? texts.dropFirst().joined(separator: "\n") : nil
        let source = Self.text(event.text("source")?.split(separator: "/").last.map(String.init))
        origin = [subject, source].compactMap(\.self).joined(separator: " · ")
        link = Self.link(event.text("data", "action", "value"), among: ["https://", "http://"])
        image =
            event.elements(["data", "media"], "url", "href", "contentType").lazy
            .filter { ($0[2] ?? "image/").hasPrefix("image/") }
            .compactMap { Self.link($0[1], among: ["https://"]) ?? Self.link($0[0], among: ["https://"]) }.first
    }

    /// The texts in the order of their importance.
    private static func texts(_ event: EventDocument) -> [String?] {
        switch event.text("type") {
        case OperationalEvent.EventType.deliveryDead.rawValue:
            let destination = event.text("data", "destination") ?? "?"
            return ["Delivery to \(destination) moved to dead letters", event.text("data", "reason")]
        case OperationalEvent.EventType.ping.rawValue:
            return ["Test event for \(event.text("data", "destination") ?? "?")"]
        default:
            return [
                event.text("data", "content", "title"), event.text("data", "content", "subtitle"),
                event.text("data", "content", "body"),
            ]
        }
    }

    /// Nil for a missing text and for one of white space only.
    private static func text(_ text: String?) -> String? {
        guard let text else { return nil }
        let printable = text.unicodeScalars.map { $0 != "\n" && EventLine.isControl($0) ? " " : $0 }
        let isBlank = printable.allSatisfy { $0.properties.isWhitespace }
        return isBlank ? nil : String(String.UnicodeScalarView(printable))
    }

    /// The longest link that every service accepts.
    private static let linkLimit = 2_000

    /// Nil unless the link has one of the schemes, a host, and characters that no service reads as markup. Discord
    /// rejects the whole message if it has a malformed link.
    private static func link(_ link: String?, among schemes: [String]) -> String? {
        guard let link, link.utf8.count <= linkLimit, let scheme = schemes.first(where: { link.hasPrefix($0) }),
            let host = link.utf8.dropFirst(scheme.utf8.count).first, !"/?#:".utf8.contains(host),
            OutboundURL(link) != nil
        else { return nil }
        let isPlain = link.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"\"<>|\\^`{}".utf8.contains($0) }
        return isPlain ? link : nil
    }
}
