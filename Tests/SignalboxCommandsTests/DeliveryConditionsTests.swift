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
        (conditions.vendor, conditions.error, conditions.status) = ("mce", "timeout-reply", "5xx")
        (conditions.since, conditions.until) = ("48h", "24h")
        let filter = try conditions.filter(now: now)
        var expected = DeliveryFilter(state: .dead, destination: DestinationName("crm"), event: "e1")
        (expected.vendor, expected.error, expected.status) = ("mce", "timeout-reply", 500...599)
        expected.acceptedSince = now.addingTimeInterval(-48 * 3600)
        expected.acceptedBefore = now.addingTimeInterval(-24 * 3600)
        #expect(filter == expected)
        #expect(conditions.isSelective)
    }

    @Test func aDestinationIsSelectiveAndNumbersAreNot() {
        var conditions = DeliveryConditions()
        conditions.ids = [1]
        #expect(!conditions.isSelective)
        conditions.destination = "crm"
        #expect(conditions.isSelective)
    }

    @Test func aRetrySelectsDeadOrWaitingDeliveries() throws {
        var conditions = DeliveryConditions()
        try conditions.checkRetry()
        for state in [DeliveryRecord.State.dead, .waiting] {
            conditions.state = state
            try conditions.checkRetry()
        }
        for state in [DeliveryRecord.State.delivered, .expired] {
            conditions.state = state
            #expect(throws: CommandFailure.self) { try conditions.checkRetry() }
        }
    }

    @Test func suggestsTheNearestError() {
        var conditions = DeliveryConditions()
        conditions.error = "timeout-rply"
        #expect(throws: CommandFailure.refused("Unknown error \"timeout-rply\". Did you mean \"timeout-reply\"?")) {
            try conditions.filter(now: now)
        }
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

    @Test(
        arguments: [
            ("10d", "5d", nil, "--since is not before --older-than, so they select nothing."),
            ("10d", nil, "1h", "Use --older-than or --until, not both."),
            ("soon", nil, nil, "Invalid --older-than soon: write it as 30d, with ms, s, m, h or d."),
        ] as [(String, String?, String?, String)])
    func refusesAnInvalidOrContradictoryAge(
        _ age: String, _ since: String?, _ until: String?, _ sentence: String
    ) {
        var conditions = DeliveryConditions()
        (conditions.olderThan, conditions.since, conditions.until) = (age, since, until)
        #expect(throws: CommandFailure.refused(sentence)) { try conditions.filter(now: now) }
    }

    @Test func anAgeIsTheEndOfThePeriod() throws {
        var conditions = DeliveryConditions()
        (conditions.olderThan, conditions.since) = ("5d", "10d")
        let filter = try conditions.filter(now: now)
        #expect(filter.acceptedBefore == now.addingTimeInterval(-5 * 86_400))
        #expect(filter.acceptedSince == now.addingTimeInterval(-10 * 86_400))
    }
}
