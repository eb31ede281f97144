import Foundation
import SignalboxConfig
import SignalboxGateway
import SignalboxNotification
import SignalboxStore
import Testing

@Suite struct DeliveryWaitsTests {
    /// Without a config, no destination can be called unknown.
    @Test func knowsEveryDestinationWithoutAConfig() {
        let now = Date()
        let record = DeliveryRecord(
            id: 1, event: "e", subject: "s", destination: DestinationName("crm"), state: .waiting, attempts: 0,
            due: now, notBefore: nil, notAfter: nil, acceptedAt: now, last: nil)
        #expect(DeliveryWaits(nil, [:]).wait(of: record, now: now)?.reason == .queued)
        #expect(DeliveryWaits(GatewayConfig(), [:]).wait(of: record, now: now)?.reason == .unknownDestination)
    }
}
