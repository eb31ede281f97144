extension Destination {
    /// The format of messages.
    package enum Format: Sendable, Equatable {
        /// CloudEvents in structured JSON: the stored event, byte for byte.
        case cloudEvents
        /// CloudEvents with the attributes in headers and `data` as the body.
        case cloudEventsBinary
        /// Several CloudEvents in a JSON array.
        case cloudEventsBatch(Batch)
        /// `{"type", "timestamp", "data"}`.
        case standardWebhooks
        /// The payload as the gateway received it.
        case raw
        /// The output of a Mustache template. SignalboxRouting compiles it with the config.
        case template(TemplateSource)
        /// A message for the incoming webhook of a chat service.
        case slack, teams, discord

        /// Names in the config, the default first.
        package enum Name: String, Sendable, CaseIterable {
            case cloudEvents = "cloudevents"
            case cloudEventsBinary = "cloudevents-binary"
            case cloudEventsBatch = "cloudevents-batch"
            case standardWebhooks = "standard-webhooks"
            case raw, template, slack, teams, discord

            /// False for messages to a chat service, which verifies no signature: its URL is the credential.
            package var isSigned: Bool {
                switch self {
                case .slack, .teams, .discord: false
                default: true
                }
            }
        }

        /// `template`: of the format of this name; nil only while the config has errors.
        init(_ name: Name, template: TemplateSource?, batch: Batch) {
            switch name {
            case .cloudEvents: self = .cloudEvents
            case .cloudEventsBinary: self = .cloudEventsBinary
            case .cloudEventsBatch: self = .cloudEventsBatch(batch)
            case .standardWebhooks: self = .standardWebhooks
            case .raw: self = .raw
            case .template: self = template.map { .template($0) } ?? .cloudEvents
            case .slack: self = .slack
            case .teams: self = .teams
            case .discord: self = .discord
            }
        }

        /// The word for the format in the config.
        package var name: Name {
            switch self {
            case .cloudEvents: .cloudEvents
            case .cloudEventsBinary: .cloudEventsBinary
            case .cloudEventsBatch: .cloudEventsBatch
            case .standardWebhooks: .standardWebhooks
            case .raw: .raw
            case .template: .template
            case .slack: .slack
            case .teams: .teams
            case .discord: .discord
            }
        }

        /// The limits of a request; nil for formats with one event in a request.
        package var batch: Batch? {
            if case .cloudEventsBatch(let batch) = self { batch } else { nil }
        }
    }

    /// Limits of a request with several events. The first one that is reached sends it.
    package struct Batch: Sendable, Equatable {
        /// Most events in a request, 1 to 1000.
        package var count: Int
        /// Most bytes of events before compression. A larger event is sent alone.
        package var bytes: Int
        /// The longest time that the first event waits for others.
        package var age: Duration

        /// The defaults are those of a destination's `batch`. Does not check the values.
        package init(count: Int = 100, bytes: Int = 256_000, age: Duration = .seconds(1)) {
            (self.count, self.bytes, self.age) = (count, bytes, age)
        }
    }

    /// Content codings of bodies (RFC 9110, 8.4.1).
    package enum Compression: String, Sendable, CaseIterable {
        /// RFC 1952. The signature covers the uncompressed body.
        case gzip
    }
}

// MARK: Options

extension Destination.Batch {
    /// A default batch fits the common body limit of 1 MB.
    static let options = Section(Destination.Batch()) {
        Option("count", \.count, .whole(1...1000), "Most events in a request.")
        Option(
            "bytes", \.bytes, .size(1_000...16_000_000, example: "256KB", orNumber: false),
            "Most bytes of events in a request, before compression. A larger event is sent alone.")
        Option(
            "age", \.age, .duration(from: "1ms", to: "1m", example: "1s"), "How long the first event waits for others.")
    }
}
