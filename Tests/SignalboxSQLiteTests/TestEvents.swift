import Foundation
import SignalboxNotification
import SignalboxStore

extension Event {
    /// An event with a random id and this body, which need not be JSON.
    init(_ body: [UInt8], at date: Date = Date()) {
        self.init(
            id: EventID(at: date, random: (.random(in: 0 ... .max), .random(in: 0 ... .max))), source: .default,
            acceptedAt: date, vendor: .unknown, kind: .alert, warnings: [], body: body)
    }
}

extension RoutedEvent {
    /// An event with this body, and a delivery to each destination that is due at once.
    convenience init(
        _ body: [UInt8], to destinations: DestinationName..., at date: Date = Date(), hasLastingID: Bool = false
    ) {
        self.init(
            event: Event(body, at: date), routes: [], deliveries: destinations.map { DeliveryOrder(to: $0) },
            hasLastingID: hasLastingID)
    }
}
