extension Destination {
    /// What the messages to a webhook look like.
    package enum Format: Sendable, Equatable {
        /// CloudEvents in structured JSON: the stored event, byte for byte.
        case cloudEvents
        /// CloudEvents with the attributes in headers and `data` as the body.
        case cloudEventsBinary
        /// Several CloudEvents in a JSON array.
        case cloudEventsBatch(Batch)
        /// `{"type", "timestamp", "data"}`.
        case standardWebhooks
        /// The payload as the gateway got it.
        case raw
        case template(TemplateSource)

        /// Those that the config knows, the default first.
        package static let names = [
            "cloudevents", "cloudevents-binary", "cloudevents-batch", "standard-webhooks", "raw", "template",
        ]

        /// As the config spells it.
        package var name: String {
            switch self {
            case .cloudEvents: "cloudevents"
            case .cloudEventsBinary: "cloudevents-binary"
            case .cloudEventsBatch: "cloudevents-batch"
            case .standardWebhooks: "standard-webhooks"
            case .raw: "raw"
            case .template: "template"
            }
        }

        /// Whether it is made of the payload as it came, which must then be kept.
        package var needsPayload: Bool { self == .raw }

        /// What goes into one request; nil for formats in which a request is one event.
        package var batch: Batch? {
            if case .cloudEventsBatch(let batch) = self { batch } else { nil }
        }
    }

    /// When the deliveries that wait for a common request go out: whichever of these comes first.
    package struct Batch: Sendable, Equatable {
        package var count = 100
        /// Of the events together, before compression. A larger event goes alone.
        package var bytes = 256_000
        /// How long the first one waits for others.
        package var age: Duration = .seconds(1)

        package init() {}

        package init(count: Int, bytes: Int, age: Duration) {
            self.count = count
            self.bytes = bytes
            self.age = age
        }
    }

    /// How bodies are made smaller on their way.
    package enum Compression: String, Sendable, CaseIterable {
        case gzip
    }
}
