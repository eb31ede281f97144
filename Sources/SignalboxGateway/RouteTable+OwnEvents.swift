import SignalboxNotification
import SignalboxRouting

/// Events that the gateway makes itself.
extension RouteTable {
    /// Assigns an event its deliveries. Never fails: if the routes take too much work, the fallback's destinations
    /// receive the event, and `isCostly` is true. Traps for an event that cannot be parsed: its bytes are the gateway's
    /// own.
    func route(own event: Event, variants: EventVariants) -> (routed: RoutedEvent, isCostly: Bool) {
        ParserPool.events.withParser { parser in
            event.body.withUnsafeBufferPointer { bytes -> (routed: RoutedEvent, isCostly: Bool) in
                guard let root = try? parser.read(event: bytes, at: PayloadPosition()) else {
                    preconditionFailure("The gateway's own event is invalid.")
                }
                do throws(RoutingTooCostly) {
                    let decision = try decide(root, hasPayload: false)
                    return (RoutedEvent(event, decision, in: root, variants: variants), false)
                } catch {
                    return (RoutedEvent(event, fallbackDecision(on: root), in: root, variants: variants), true)
                }
            }
        }
    }
}
