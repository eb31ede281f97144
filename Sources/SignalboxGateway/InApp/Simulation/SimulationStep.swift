import SignalboxInApp

/// A line of a timeline and its effect, or the effect of time between two lines.
/// Steps are in the order of their times. A line has one step; time may have several at once.
package struct SimulationStep: Sendable {
    /// The cause of a step.
    enum Action: Sendable, Hashable {
        /// A registration; nil revision: the message was registered already.
        case message(SignalboxInApp.MessageID, revision: Int?)
        case withdraw(SignalboxInApp.MessageID, isKnown: Bool)
        case policy
        case trigger(TriggerEvent)
        /// The offer as the line names it.
        case outcome(Report.Outcome, String)
        case slots(page: String)
        /// No line: a lease, a delay, a schedule or a silent display has ended.
        case time
    }

    /// Nil for a step of time.
    let line: Int?
    /// Milliseconds since 1970.
    let at: Instant
    /// Nil for a step that concerns no device.
    let device: DeviceID?
    /// The user of the decision, which may be an anonymous one.
    let user: UserID?
    let action: Action
    /// The answer to a trigger or an accepted outcome.
    var answer: Answer?
    /// The offer of an accepted outcome, in its state after the report.
    var reported: Offer?
    /// The decision about a page of slots.
    var placed: SlotDecision?
    /// In the order in which they happened.
    var records: [Record] = []
    /// The code of a rejected outcome, or `no-offer`.
    var problem: String?

    init(_ line: Timeline.Line, _ action: Action, device: DeviceID? = nil, user: UserID? = nil) {
        (self.line, self.at, self.action, self.device, self.user) = (line.number, line.at, action, device, user)
    }

    init(at: Instant, device: DeviceID, user: UserID, _ action: Action, records: [Record]) {
        line = nil
        (self.at, self.action, self.device, self.user, self.records) = (at, action, device, user, records)
    }

    /// Whether the step is a decision: a trigger, an outcome, a page or time, but no registration.
    package var isDecision: Bool {
        switch action {
        case .message, .withdraw, .policy: false
        case .trigger, .outcome, .slots, .time: true
        }
    }

    /// The cause in words, such as `event cart_opened` or `shown (first)`.
    var words: String {
        switch action {
        case .message: "message"
        case .withdraw: "withdraw"
        case .policy: "policy"
        case .trigger(let event): event.name.map { "\(event.kind.rawValue) \($0)" } ?? event.kind.rawValue
        case .outcome(let outcome, let reference): "\(outcome.word) (\(reference))"
        case .slots(let page): "slots \(page)"
        case .time: "time"
        }
    }
}
