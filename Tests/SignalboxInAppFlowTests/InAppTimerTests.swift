import Foundation
import Logging
import SignalboxInApp
import SignalboxStore
import SignalboxTesting
import Testing

@testable import SignalboxGateway

/// The timer sleeps with the test's clock, which the store's clock follows.
@Suite(.timeLimit(.minutes(15))) struct InAppTimerTests {
    private func timer(_ setting: InAppSetting, _ clock: ManualClock) -> InAppTimer {
        InAppTimer(logger: Logger(label: "test"), clock: clock) { setting.flow }
    }

    /// Runs the timer while `body` runs.
    private func run(
        _ setting: InAppSetting, _ body: @escaping @Sendable (ManualClock) async throws -> Void
    ) async throws {
        let clock = ManualClock { setting.clock.advance(by: $0 / .seconds(1)) }
        try await withThrowingTaskGroup { group in
            let timer = timer(setting, clock)
            group.addTask { await timer.runUntilCancelled() }
            try await body(clock)
            group.cancelAll()
        }
    }

    /// Released, once more, then `no-answer`.
    @Test func endsLeasesWithoutARequest() async throws {
        let setting = try await InAppSetting()
        try await setting.register("spring")
        let offer = try #require(try await setting.buy().offer)
        try await run(setting) { clock in
            await clock.step(until: { setting.store.with { $0.rows.offers[offer]?.state == .waiting } })
            let again = try await setting.poll().offer
            #expect(again == offer)
            await clock.step(until: { setting.store.with { $0.rows.offers[offer]?.state == .discarded } })
        }
        #expect(setting.store.with { $0.rows.offers[offer]?.reason } == EndReason.noAnswer)
        #expect(setting.types == ["offered", "offered", "discarded"])
    }

    @Test func wakesWhenADecisionBringsTheNextTimeForward() async throws {
        let setting = try await InAppSetting()
        try await setting.register("later", #","delay":"5s""#)
        try await run(setting) { clock in
            await clock.waitForSleeper(atLeast: .seconds(20))
            let none = try await setting.buy().offer
            #expect(none == nil)
            await clock.waitForSleepers(atMost: .seconds(5))
            await clock.step(until: { setting.store.with { $0.rows.offers.values.contains { $0.state != .triggered } } }
            )
        }
        #expect(clock(setting) < 8, "it did not sleep to the end of its longest sleep")
    }

    private func clock(_ setting: InAppSetting) -> TimeInterval { setting.clock.elapsed / .seconds(1) }

    @Test func continuesAfterAFailureOfTheStore() async throws {
        let setting = try await InAppSetting()
        try await setting.register("spring")
        let offer = try #require(try await setting.buy().offer)
        setting.store.with { $0.failure = .unavailable(reason: "full") }
        try await run(setting) { clock in
            await clock.waitForSleeper(atLeast: .milliseconds(900))
            setting.store.with { $0.failure = nil }
            await clock.step(until: { setting.store.with { $0.rows.offers[offer]?.state == .waiting } })
        }
    }

    @Test func sleepsWithoutDueWork() async throws {
        let setting = try await InAppSetting()
        try await run(setting) { clock in
            await clock.waitForSleeper(atLeast: .seconds(29))
            #expect(clock.sleeps <= 4)
        }
    }
}
