import Foundation
import SignalboxCommands
import SignalboxNotification
import SignalboxStore
import Testing

struct DeliveryConditionsTests {
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    @Test func readsEveryCondition() throws {
        var conditions = DeliveryConditions()
        (conditions.state, conditions.destination, conditions.event) = (.dead, "crm", "e1")
        (conditions.vendor, conditions.error, conditions.status) = ("mce", "timeout", "5xx")
        (conditions.since, conditions.until) = ("48h", "24h")
        let filter = try conditions.filter(now: now)
        var expected = DeliveryFilter(state: .dead, destination: DestinationName("crm"), event: "e1")
        (expected.vendor, expected.error, expected.status) = ("mce", "timeout", 500...599)
        expected.acceptedSince = now.addingTimeInterval(-48 * 3600)
        expected.acceptedBefore = now.addingTimeInterval(-24 * 3600)
        #expect(filter == expected)
        #expect(conditions.isSelective)
    }

    @Test func numbersAndADestinationAreNotSelective() {
        var conditions = DeliveryConditions()
        (conditions.ids, conditions.destination) = ([1], "crm")
        #expect(!conditions.isSelective)
    }

    @Test(arguments: ["99", "600", "abc", "6xx", ""]) func refusesAnInvalidStatus(_ status: String) {
        var conditions = DeliveryConditions()
        conditions.status = status
        #expect(throws: CommandFailure.self) { try conditions.filter(now: now) }
    }

    @Test func refusesInvalidAndReversedTimes() {
        var conditions = DeliveryConditions()
        conditions.since = "lastmonth"
        #expect(throws: CommandFailure.self) { try conditions.filter(now: now) }
        (conditions.since, conditions.until) = ("1h", "2h")
        #expect(throws: CommandFailure.self) { try conditions.filter(now: now) }
    }
}
