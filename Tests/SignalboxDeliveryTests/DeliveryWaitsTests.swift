import Foundation
import SignalboxConfig
import SignalboxGateway
import SignalboxNotification
import SignalboxStore
import Testing

@Suite struct DeliveryWaitsTests {
    /// Operators choose the reason of a pause, and any operator reads it.
    @Test func reasonsDoNotControlTheTerminal() {
        let (now, crm) = (Date(timeIntervalSince1970: 0), DestinationName("crm"))
        let statuses = [crm: DestinationStatus(.paused, reason: "a\u{1B}[2Jb\nc", since: now)]
        let record = DeliveryRecord(
            id: 1, event: "e", subject: "s", destination: crm, state: .waiting, attempts: 0, due: now, notBefore: nil,
            notAfter: nil, acceptedAt: now, last: nil)
        #expect(DeliveryWaits(nil, statuses).row(record, now: now).hasSuffix("paused: a [2Jb c"))
        let lines = DestinationTable.lines(GatewayConfig(), statuses, [crm: DestinationGauges()])
        #expect(lines.last?.hasSuffix("1970-01-01T00:00:00.000Z a [2Jb c") == true, "\(lines)")
    }

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
