import Foundation
import SignalboxNotification
import SignalboxRouting
import SignalboxStore
import SignalboxTesting
import Testing

@testable import SignalboxGateway

/// Reports about taps while the disk of the queue hangs.
@Suite(.timeLimit(.minutes(15))) struct InteractionDeadlineTests {
    @Test func aReadThatHangsEndsTheRequest() async throws {
        let (timer, queue) = (ManualTimer(), HangingQueue())
        let interactions = InteractionIntake(
            gateway: "demo", routes: RouteTable(routes: []),
            decider: TapDecider(types: ActionTypes()) { _ in .init(sha256: "", bytes: 0, href: "") }, queue: queue,
            variants: EventVariants(tokens: TokenHash(key: TestPipeline.key)),
            delayed: DelayedCall { timer.schedule(after: $0, $1) })
        let report =
            #"{"eventId":"01939b4e-7c1a-7d2e-9a54-0c8f6f1f3c11","actionIdentifier":"yes","#
            + #""deviceTime":"2026-11-20T21:29:00Z"}"#
        async let failure = #expect(throws: Intake.Failure.self) {
            _ = try await interactions.accept(Array(report.utf8), from: SourceName("mobile"))
        }
        while timer.count == 0 { await Task.yield() }
        timer.pass(StoreLimits.patience)
        guard case .store(.undecided(after: StoreLimits.patience)) = await failure else {
            Issue.record("The request ended with \(String(describing: await failure)).")
            return
        }
        queue.end()
    }
}

/// A queue whose reads do not answer before ``end()``.
final class HangingQueue: IntakeStore {
    // A class because stores are shared.
    let health = StoreHealth()
    private let held = AsyncStream<Void>.makeStream()

    var now: Date { Date() }

    func end() { held.continuation.finish() }

    func event(_ id: String) async throws(StoreError) -> StoredEvent? {
        for await _ in held.stream { break }
        return nil
    }

    func gauges() async throws(StoreError) -> [DestinationName: DestinationGauges] { [:] }

    func append(
        _ events: [RoutedEvent], of request: IdempotentRequest?,
        whenDone done: @escaping @Sendable (Result<AppendResult, StoreError>) -> Void
    ) { done(.success(.appended(duplicates: [:]))) }

    func result(
        ofKey key: String, digest: [UInt8], from source: SourceName
    ) async throws(StoreError) -> AppendResult? { nil }

    func finish() async {}

    func probe() async throws(StoreError) {}

    func categories(
        limit: Int, after identifier: String?, upTo count: Int
    ) async throws(StoreError) -> [CategoryRecord] { [] }

    func category(_ identifier: String) async throws(StoreError) -> CategoryRecord? { nil }
}
