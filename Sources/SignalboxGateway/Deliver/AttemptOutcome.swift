import SignalboxStore

/// The outcomes of an ended attempt, to be recorded.
struct AttemptOutcome: Sendable {
    private(set) var settlements: [Settlement]
    /// Those that are not on disk yet.
    var unrecorded: [Settlement]
    /// Nil without a request.
    let answer: RetryPolicy.Answer?
    /// Of the attempt if it is exported.
    let trace: TraceContext?

    /// `result`: nil without a request.
    init(_ settlements: [Settlement], after result: SendResult? = nil) {
        (self.settlements, unrecorded) = (settlements, settlements)
        (answer, trace) = (result?.answer, result?.trace)
    }

    /// Adds the outcomes of the deliveries that were sent.
    mutating func add(_ others: [Settlement]) {
        settlements = others + settlements
        unrecorded = settlements
    }

    /// Whether the answer disables the destination.
    var isDisabling: Bool { answer.map { RetryPolicy.disabling($0) != nil } ?? false }
}
