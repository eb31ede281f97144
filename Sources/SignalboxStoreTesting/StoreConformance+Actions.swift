import Foundation
import SignalboxNotification
import SignalboxStore
import SignalboxTesting
import Testing

extension StoreConformance {
    private static func action(
        _ operation: String, by actor: String = "ann", target: String? = nil, reason: String? = nil,
        result: String = "done"
    ) -> OperatorAction {
        OperatorAction(
            by: actor, role: "operator", remote: "198.51.100.7", via: .api, operation, target: target,
            parameters: ["state": "dead", "destination": "crm"], reason: reason, result: result)
    }

    private static func log(_ queue: any Store, _ filter: ActionFilter = ActionFilter()) async throws -> [ActionRecord]
    {
        try await queue.actionPage(filter, limit: 100, examining: 1000).records
    }

    /// Every change of an operator has its row, with the number of changed objects.
    static let actions = [
        Self("aChangeIsRecordedWithItsActor") { bench in
            let queue = try bench.open()
            try await queue.append([bench.event(1), bench.event(2)])
            for lease in try await queue.claim(from: bench.crm, upTo: 2) { try await queue.settle(lease, .refused) }
            let retry = action("deliveries.retry", reason: "fixed")
            let purge = action("deliveries.purge", by: "bob")
            #expect(try await queue.retry(DeliveryFilter(state: .dead), as: retry) == 2)
            #expect(try await queue.purge(DeliveryFilter(), sparingUndelivered: false, as: purge) == 2)
            let other = try bench.open()
            let records = try await log(other)
            #expect(records.map(\.action) == [purge, retry])
            #expect(records.map(\.count) == [2, 2])
            #expect(records.allSatisfy { $0.at == bench.clock.now })
            #expect(records[0].id > records[1].id)
        },
        Self("aPauseHasTheReasonOfItsAction") { bench in
            let queue = try bench.open()
            try await queue.set(
                .paused, of: bench.crm, as: action("destinations.pause", target: "crm", reason: "moving"))
            #expect(try await queue.statuses()[bench.crm]?.reason == "moving")
            try await queue.set(nil, of: bench.crm, as: action("destinations.resume", target: "crm"))
            #expect(try await log(queue).map(\.action.operation) == ["destinations.resume", "destinations.pause"])
        },
        Self("anInAppMessageIsRecordedWithItsActor") { bench in
            let queue = try bench.open()
            let (register, withdraw) = (action("inapp.register", target: "m"), action("inapp.withdraw", target: "m"))
            _ = try await queue.register(bench.message("m"), as: register)
            _ = try await queue.withdraw(message: "m", as: withdraw)
            #expect(try await log(queue).map(\.action) == [withdraw, register])
        },
        Self("aRetryOfNamedDeliveriesWithoutEffectIsNotRecorded") { bench in
            let queue = try bench.open()
            #expect(try await queue.retry(DeliveryFilter(ids: [7]), as: action("deliveries.retry")) == 0)
            #expect(try await queue.retry(DeliveryFilter(state: .dead), as: action("deliveries.retry")) == 0)
            #expect(try await log(queue).map(\.count) == [0])
        },
        Self("actionsAreFilteredAndPaged") { bench in
            let queue = try bench.open()
            let start = bench.clock.now
            for number in 0..<5 {
                let refused = action(
                    "captures.remove", by: number % 2 == 0 ? "ann" : "bob", result: "role-insufficient")
                try await queue.record(refused, count: number)
                bench.clock.advance(by: 60)
            }
            var filter = ActionFilter()
            filter.actor = "ann"
            #expect(try await log(queue, filter).map(\.count) == [4, 2, 0])
            filter.since = start.addingTimeInterval(60)
            filter.until = start.addingTimeInterval(240)
            #expect(try await log(queue, filter).map(\.count) == [2])
            filter.operation = "other"
            #expect(try await log(queue, filter).isEmpty)
            let first = try await queue.actionPage(ActionFilter(), limit: 2, examining: 100)
            #expect(first.records.map(\.count) == [4, 3] && first.isComplete)
            var next = ActionFilter()
            next.before = first.next
            #expect(next.before != nil)
            #expect(try await log(queue, next).map(\.count) == [2, 1, 0])
        },
    ]
}
