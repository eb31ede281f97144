import SignalboxStore

/// The outcomes of an ended attempt, to be recorded.
struct AttemptOutcome: Sendable {
    let settlements: [Settlement]
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

    /// Whether the answer disables the destination.
    var isDisabling: Bool { settlements.contains { $0.disabling != nil } }
}
