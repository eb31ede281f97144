import SignalboxConfig
import SignalboxJSON
import SignalboxRouting
import SignalboxStore

/// The output of the config's template for the event.
struct TemplateOutput: MessageFormat {
    private let template: EventTemplate

    init(_ template: EventTemplate) { self.template = template }

    func message(for leases: [Lease]) throws(UnwritableMessage) -> WebhookMessage {
        do throws(RenderingFailure) {
            let body = try template.render(leases[0].body, with: .forEvents())
            return WebhookMessage(contentType: template.contentType, body: body)
        } catch {
            throw UnwritableMessage("\(error)")
        }
    }
}
