package import SignalboxConfig
import SignalboxRouting
package import SignalboxStore

/// Writes the messages of one destination. The formats are one file each in this folder.
package struct MessageWriter: Sendable {
    private let format: any MessageFormat
    private let isBatching: Bool

    /// Compiles the template, if the format has one.
    package init(_ format: Destination.Format) {
        isBatching = format.batch != nil
        self.format =
            switch format {
            case .cloudEvents: CloudEventsStructured()
            case .cloudEventsBinary: CloudEventsBinary()
            case .cloudEventsBatch: CloudEventsBatch()
            case .standardWebhooks: StandardWebhooksPayload()
            case .raw: RawPayload()
            case .template(let source): TemplateOutput(EventTemplate(source))
            }
    }

    /// Writes the message for these deliveries: one, unless the format batches.
    package func message(for leases: [Lease]) throws(UnwritableMessage) -> WebhookMessage {
        precondition(!leases.isEmpty && (leases.count == 1 || isBatching), "A request of this format has one event.")
        return try format.message(for: leases)
    }
}
