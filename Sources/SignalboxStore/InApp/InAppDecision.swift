package import SignalboxInApp
import Synchronization

/// A decision as the commit group performs it. The step is a function of the rows, because a failed commit is
/// repeated in parts.
/// Holds no rows: they are loaded when the group runs, so a decision sees what the decisions before it changed.
package struct InAppDecision: Sendable {
    /// The owner of the rows to load.
    package let subject: InAppSubject
    /// Campaigns whose tallies are loaded, besides those of the device's offers.
    package let tallies: [MessageID]
    /// Hands its result over by itself: the last run is the committed one.
    package let step: @Sendable (InAppRows) -> InAppStep<Void>

    package init(
        subject: InAppSubject, tallies: [MessageID], step: @escaping @Sendable (InAppRows) -> InAppStep<Void>
    ) { (self.subject, self.tallies, self.step) = (subject, tallies, step) }
}

/// The result of the last run of a step. Spares the store an existential and its cast for each decision. A class
/// because the step and the caller share it.
final class DecidedResult<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)

    /// Replaces the result of an earlier run, whose commit failed.
    func set(_ result: Value) { value.withLock { $0 = result } }

    /// Traps unless the step has run.
    func take() -> Value {
        guard let result = value.withLock({ $0.take() }) else { preconditionFailure("The decision was not made.") }
        return result
    }
}
