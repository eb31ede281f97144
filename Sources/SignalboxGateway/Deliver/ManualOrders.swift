package import SignalboxNotification
package import SignalboxRouting
package import SignalboxStore

/// Orders deliveries of stored events on behalf of operators, in the form that the routes give them.
package struct ManualOrders: Sendable {
    private let routes: RouteTable
    private let variants: EventVariants

    /// The routes of the config, and the writer of their variants.
    package init(routes: RouteTable, variants: EventVariants) { (self.routes, self.variants) = (routes, variants) }

    /// The order of one delivery. A destination that a route of the event leads to receives the form of that route;
    /// any other one the form of the first route to it, so that a redaction is never bypassed. Throws if routing the
    /// event takes too much work.
    package func order(for record: EventRecord, to destination: DestinationName) throws(Rejection) -> ManualDelivery {
        guard let document = EventDocument(record.body) else { throw .eventTooLarge(at: PayloadPosition()) }
        return try document.withRoot { (root, _) throws(Rejection) in
            let target: RouteTable.Target
            do throws(RoutingTooCostly) { target = try routes.target(of: root, to: destination) } catch {
                throw .tooCostly(at: PayloadPosition())
            }
            var list = VariantList(Self.event(record), root, by: variants)
            var order = ManualDelivery(record.id, to: destination)
            order.orderKey = target.orderKey
            order.needsPayload = routes.payloadTakers.contains(destination)
            order.variant = list.variant(for: target, awaitsMedia: false).map { list.variants[$0] }
            return order
        }
    }

    /// The event for the list of variants, which uses its body only.
    private static func event(_ record: EventRecord) -> Event {
        Event(
            id: EventID(at: record.acceptedAt, random: (0, 0)), source: record.source, acceptedAt: record.acceptedAt,
            vendor: .unknown, kind: .alert, warnings: [], subject: record.subject, body: record.body)
    }
}
