import Foundation
import SignalboxConfig
import SignalboxGateway
import SignalboxNotification

/// Applies failure rules to the pushes of a request.
struct PushFailures: Sendable {
    /// Shared by all configs.
    let rules: FailureRules
    /// Makes the events that patterns match.
    let intake: Intake
    /// The clock of timestamps.
    var now: @Sendable () -> Date = { Date() }

    /// The failures of the pushes, by position, and the effects on the answer to the request. Counts the pushes.
    /// Positions are those of the slice.
    func decide(_ pushes: ArraySlice<ProviderPush>) -> (failures: [Int: PushAnswer], effects: PushEffects) {
        var failures: [Int: PushAnswer] = [:]
        var effects = PushEffects()
        let taken = rules.decide(pushes, by: intake)
        guard !taken.isEmpty else { return (failures, effects) }
        for position in pushes.indices {
            guard let rule = taken[position] else { continue }
            let failure = failure(by: rule, of: pushes[position])
            effects.add(rule, failure)
            if let failure { failures[position] = .injected(failure) }
        }
        return (failures, effects)
    }

    /// The failure in the words of the service; nil for a rule without an answer, which only delays the reply or
    /// changes the connection. A 410 has the timestamp of the rule, otherwise the present time.
    private func failure(by rule: FailureRule, of push: ProviderPush) -> InjectedFailure? {
        guard let answer = rule.answer, let reason = rule.reason(for: push.platform) else { return nil }
        var failure = InjectedFailure(rule: rule.name, status: reason.status, reason: reason.word)
        if reason.status == 410 { failure.timestamp = (answer.timestamp ?? Timestamp(now())).milliseconds }
        // Rounded up to whole seconds, because `retry-after` has no fractions.
        failure.retryAfter = answer.retryAfter.map { Int(($0.milliseconds + 999) / 1000) }
        return failure
    }
}
