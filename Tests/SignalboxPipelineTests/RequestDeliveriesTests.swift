import Foundation
import SignalboxGateway
import SignalboxNotification
import SignalboxRouting
import SignalboxSQLite
import SignalboxStore
import SignalboxTesting
import Testing

/// Requests whose events go to thousands of destinations each.
@Suite struct RequestDeliveriesTests {
    private let good = #"{"aps":{"alert":"x"}}"#
    /// Two events with as many have more deliveries than a request may have.
    private static let many = StoreLimits.deliveriesOfRequest / 2 + 1

    private func intake(to destinations: Int, _ queue: any IntakeStore) -> Intake {
        let names = (0..<destinations).map { DestinationName("d\($0)") }
        return Intake(
            normalizer: TestPipeline().normalizer,
            routes: RouteTable(routes: [Route(name: "all", match: .everything, destinations: names)]), queue: queue)
    }

    /// The answer to a batch of equal payloads with an idempotency key; nil if it has too many deliveries.
    private func accept(
        _ count: Int, key: String?, by intake: Intake
    ) async throws(Intake.Failure) -> Intake.Answer? {
        let body = "[" + Array(repeating: good, count: count).joined(separator: ",") + "]"
        let request = key.map { key in
            Intake.Repeatable(key: key) { _ in StoredAnswer(status: 202, body: Array("first".utf8)) }
        }
        do throws(Intake.Failure) {
            return try await intake.accept(Array(body.utf8), from: .default, as: request)
        } catch {
            if case .tooManyDeliveries = error { return nil }
            throw error
        }
    }

    @Test func rejectsABatchWithTooManyAsAWhole() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            #expect(try await accept(2, key: nil, by: intake(to: Self.many, queue)) == nil)
            #expect(try await queue.eventCount() == 0)
        }
    }

    /// A reload added destinations.
    @Test func answersTheRepeatOfABatchThatHasTooManyNow() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            guard case .report? = try await accept(2, key: "k", by: intake(to: 1, queue)) else {
                Issue.record("The first request was not accepted.")
                return
            }
            let reloaded = intake(to: Self.many, queue)
            guard case .repeated(let answer)? = try await accept(2, key: "k", by: reloaded) else {
                Issue.record("The repeat was not recognised.")
                return
            }
            #expect(answer == StoredAnswer(status: 202, body: Array("first".utf8)))
            let reused = await #expect(throws: Intake.Failure.self) { try await accept(3, key: "k", by: reloaded) }
            guard case .keyReused? = reused else {
                Issue.record("\(String(describing: reused))")
                return
            }
            #expect(try await accept(2, key: "other", by: reloaded) == nil)
            #expect(try await queue.eventCount() == 2)
        }
    }

    /// The service's clients send them again.
    @Test(arguments: [1, 3]) func postponesPushesOfOtherServices(count: Int) async throws {
        let push = ProviderPush(body: Array(#"{"to":"a","data":{"k":"v"}}"#.utf8), source: .default, platform: .fcm)
        let queue = HangingQueue()
        let intake = intake(to: Self.many * 2, queue)
        let answers: [ProviderAnswer] = try await withCheckedThrowingContinuation { done in
            intake.accept(Array(repeating: push, count: count)) { done.resume(with: $0) }
        }
        let isPostponed = answers.map { if case .postponed = $0 { true } else { false } }
        #expect(isPostponed == [false] + Array(repeating: true, count: count - 1), "one may have any number")
    }

    /// A type of action may have destinations of its own.
    @Test func rejectsABatchOfInteractionsWithTooManyAsAWhole() async throws {
        var types = ActionTypes()
        types.custom["snooze"] = .init()
        types.custom["snooze"]?.destinations = (0..<Self.many).map { DestinationName("d\($0)") }
        try await InteractionSetting.run(of: payload(#"{"type":"snooze","value":5}"#), types: types) { setting in
            let reports = ["29", "30"].map { minute in
                #"{"eventId":"\#(setting.event.event.id)","actionIdentifier":"default","#
                    + #""deviceTime":"2026-11-20T21:\#(minute):00Z"}"#
            }
            let failure = await #expect(throws: Intake.Failure.self) {
                try await setting.interactions.accept(Array(reports.joined(separator: "\n").utf8), from: .default)
            }
            guard case .tooManyDeliveries? = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            let count = try await setting.queue.eventCount()
            #expect(count == 1, "the notification")
        }
    }
}
