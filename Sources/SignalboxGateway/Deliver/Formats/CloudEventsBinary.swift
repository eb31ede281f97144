import SignalboxJSON
import SignalboxStore

/// CloudEvents 1.0, binary: attributes and extensions in `ce-` headers, `data` as the body.
/// Source: github.com/cloudevents/spec, v1.0.2, bindings/http-protocol-binding.md, 3.1
struct CloudEventsBinary: MessageFormat {
    func message(for leases: [Lease]) throws(UnwritableMessage) -> WebhookMessage {
        let parser = JSONParser.forEvents()
        let event = try parser.event(of: leases[0])
        return withExtendedLifetime(parser) { Self.message(event) }
    }

    private static func message(_ event: JSONValue) -> WebhookMessage {
        var message = WebhookMessage(body: [])
        event.forEachMember { key, value in
            switch String(decoding: key, as: UTF8.self) {
            // The gateway's events contain JSON.
            case "data": message.body = JSONText(value).bytes
            case "datacontenttype": message.contentType = value.string
            case let name:
                // A string without its quotes; CloudEvents spells booleans and integers as JSON does.
                let text = value.string ?? JSONText(value).string
                message.headers.append(.init(name: "ce-" + name, value: encoded(text)))
            }
        }
        return message
    }

    /// 3.1.3.2: percent-encodes, as UTF-8, quotes, percent signs, and every character that is not visible ASCII.
    private static func encoded(_ text: String) -> String {
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            if (0x21...0x7E).contains(byte), byte != UInt8(ascii: "\""), byte != UInt8(ascii: "%") {
                encoded.append(byte)
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                encoded += Array((digits.count == 1 ? "%0" : "%").utf8) + Array(digits.utf8)
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}
