package import SignalboxRouting
package import SignalboxStore

/// The formats, one file each in this folder.
extension Destination.Format {
    /// The writer of this format.
    private var writer: any MessageFormat {
        switch self {
        case .cloudEvents: CloudEventsStructured()
        case .cloudEventsBinary: CloudEventsBinary()
        case .cloudEventsBatch: CloudEventsBatch()
        case .standardWebhooks: StandardWebhooksPayload()
        case .raw: RawPayload()
        case .template(let template): TemplateOutput(template)
        }
    }

    /// Writes the message for these deliveries: one, unless the format batches.
    package func message(for leases: [Lease]) throws(UnwritableMessage) -> WebhookMessage {
        precondition(!leases.isEmpty && (leases.count == 1 || batch != nil), "A request of this format has one event.")
        return try writer.message(for: leases)
    }
}
