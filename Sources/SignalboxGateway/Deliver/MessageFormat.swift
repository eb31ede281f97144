package import SignalboxConfig
import SignalboxEgress
import SignalboxJSON
import SignalboxNotification
import SignalboxRouting
package import SignalboxStore

/// The request of one or more deliveries, before it is signed and compressed. ``WebhookSender`` adds the headers that
/// every format has, such as the signature.
package struct WebhookMessage: Sendable {
    /// Type of the body; nil for none.
    package var contentType: String?
    /// Headers of the format: names in lower case, values of visible ASCII.
    package var headers: [(name: String, value: String)] = []
    /// The bytes that are signed; compression comes after.
    package var body: [UInt8]
}

/// Why a message cannot be written, as a clause. Permanent: the next attempt would fail in the same way. The delivery
/// becomes a dead letter with this text as its reason.
package struct UnwritableMessage: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String
}

/// Writes the messages of one destination. A value without mutable state: the attempts of a lane share it.
package struct MessageWriter: Sendable {
    private let format: Destination.Format
    private let template: EventTemplate?

    /// Compiles the template, if the format has one. Stops the process if the template is invalid, because the config
    /// was checked before.
    package init(_ format: Destination.Format) {
        self.format = format
        template = if case .template(let source) = format { EventTemplate(source) } else { nil }
    }

    /// Writes the message for these deliveries: one, unless the format batches. Deterministic: the same deliveries
    /// make the same bytes.
    ///
    /// Sources: github.com/cloudevents/spec, v1.0.2, bindings/http-protocol-binding.md, 3.1 (binary), 3.2
    /// (structured), 3.3 (batched), and formats/json-format.md, 4; github.com/standard-webhooks/standard-webhooks,
    /// spec/standard-webhooks.md, "Payload structure"
    ///
    /// Throws ``UnwritableMessage`` for an event that cannot be read, a payload that was not stored, and a template
    /// that fails on this event. `leases` must not be empty.
    package func message(for leases: [Lease]) throws(UnwritableMessage) -> WebhookMessage {
        precondition(
            !leases.isEmpty && (leases.count == 1 || format.batch != nil), "A request of this format has one event.")
        let lease = leases[0]
        switch format {
        case .cloudEvents: return WebhookMessage(contentType: "application/cloudevents+json", body: lease.body)
        case .cloudEventsBatch:
            var body = [UInt8(ascii: "[")]
            body.reserveCapacity(leases.reduce(2) { $0 + $1.body.count + 1 })
            for lease in leases {
                if body.count > 1 { body.append(UInt8(ascii: ",")) }
                body += lease.body
            }
            body.append(UInt8(ascii: "]"))
            return WebhookMessage(contentType: "application/cloudevents-batch+json", body: body)
        case .cloudEventsBinary: return try lease.withEvent { .cloudEventsBinary($0) }
        case .standardWebhooks: return try lease.withEvent { .standardWebhooks($0) }
        case .slack: return try lease.withEvent { .json(SlackMessage.json(ChatSummary($0))) }
        case .teams: return try lease.withEvent { .json(TeamsMessage.json(ChatSummary($0))) }
        case .discord: return try lease.withEvent { .json(DiscordMessage.json(ChatSummary($0))) }
        case .raw:
            guard let payload = lease.payload else {
                throw UnwritableMessage(
                    description: "the payload of this event was not stored; another format can deliver the event")
            }
            return WebhookMessage(contentType: "application/json", body: payload)
        case .template(let source):
            let template = template ?? EventTemplate(source)
            do throws(RenderingFailure) {
                let body = try ParserPool.events.withParser { (parser) throws(RenderingFailure) in
                    try template.render(lease.body, with: parser)
                }
                return WebhookMessage(contentType: template.contentType, body: body)
            } catch {
                throw UnwritableMessage(description: "\(error)")
            }
        }
    }
}

extension Lease {
    /// The message that `write` makes of the stored event. The event is valid during the call only.
    fileprivate func withEvent(
        _ write: (EventDocument) -> WebhookMessage
    ) throws(UnwritableMessage) -> WebhookMessage {
        let message = ParserPool.events.withParser { EventDocument(body, with: $0).map(write) }
        guard let message else { throw UnwritableMessage(description: "the stored event cannot be read") }
        return message
    }
}

extension WebhookMessage {
    fileprivate static func json(_ body: [UInt8]) -> WebhookMessage {
        WebhookMessage(contentType: "application/json", body: body)
    }

    /// Attributes and extensions in `ce-` headers, `data` as the body. Only `datacontenttype` becomes a header
    /// without the prefix.
    fileprivate static func cloudEventsBinary(_ event: EventDocument) -> WebhookMessage {
        var message = WebhookMessage(body: event.json("data")?.bytes ?? [])
        for (name, text) in event.attributes {
            // The gateway's events contain JSON.
            if name == "datacontenttype" {
                message.contentType = text
            } else {
                message.headers.append(("ce-" + name, encoded(text)))
            }
        }
        return message
    }

    /// 3.1.3.2: percent-encodes, as UTF-8, quotes, percent signs, and every character that is not visible ASCII.
    private static func encoded(_ text: String) -> String {
        let bytes = text.utf8.flatMap { byte in
            let isPlain = (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "%")
            return isPlain ? [byte] : Array("%\(hexadecimal([byte]).uppercased())".utf8)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The event's type, its time and its data. Its id is in `webhook-id`. Members that the event lacks are left out
    /// of the body.
    fileprivate static func standardWebhooks(_ event: EventDocument) -> WebhookMessage {
        let body = [UInt8].jsonObject { json in
            json.member("type", event.text("type"))
            json.member("timestamp", event.text("time"))
            json.member("data", event.json("data"))
        }
        return WebhookMessage(contentType: "application/json", body: body)
    }
}

/// The `webhook-id` of a message, by which a receiver recognises a repeat. The same in every attempt, so a receiver
/// can drop a delivery that it has already processed.
package enum WebhookMessageID {
    // The key separates this digest from others; it is not secret.
    private static let digest = MessageAuthentication(key: Array("signalbox: id of a batch".utf8))

    /// The event's id; for several events, 32 hexadecimal digits derived from their ids, independent of their order.
    /// A retried batch has the same id. A batch that is cut differently on a retry has another id, because it has
    /// other events.
    package static func of(_ leases: [Lease]) -> String {
        guard leases.count > 1 else { return leases.first?.event ?? "" }
        let ids = leases.map(\.event).sorted().joined(separator: "\n")
        return hexadecimal(digest.authenticate(Array(ids.utf8)).prefix(16))
    }
}
