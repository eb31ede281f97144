import SignalboxStore

/// Decides when a lane records a change of its backoff, so that the record in the queue matches the lane's state.
/// Pure.
struct BackoffRecord: Sendable {
    /// A backoff as the lane knows it; the queue's record has a wall-clock time instead.
    struct Backoff: Sendable, Equatable {
        let kind: DestinationBackoff.Kind
        /// On the lane's clock.
        let until: Duration
    }

    /// The lane writes each step to the queue and asks for the next one, until there is none.
    enum Step: Sendable, Equatable {
        case done
        /// Nil: the backoff has ended.
        case record(Backoff?)
    }

    /// The backoff that the queue holds now, as far as the lane knows; nil for none.
    private(set) var recorded: Backoff?
    private var isRecording = false
    private var hasFailed = false

    /// An end that is later by less than this is not recorded.
    private static let step: Duration = .seconds(1)

    /// Starts recording. False while another task records: its next step covers this change too. Call it after each
    /// list of answers, before ``next(_:)``.
    mutating func begin() -> Bool { !exchange(&isRecording, with: true) }

    /// The next step for the present backoff. Recording ends with ``Step/done``. A present backoff of the recorded kind
    /// is recorded again only if it ends at least a second later than the recorded one.
    mutating func next(_ present: Backoff?) -> Step {
        guard isNews(present) else {
            isRecording = false
            return .done
        }
        recorded = present
        return .record(present)
    }

    /// Records a failed write; the next attempt retries it. True for the first failure in a row. Ends the recording
    /// and restores the former record, so that the next answer tries to record the change again.
    mutating func fail(before former: Backoff?) -> Bool {
        (recorded, isRecording) = (former, false)
        return !exchange(&hasFailed, with: true)
    }

    /// The queue holds the record of a predecessor that has ended.
    mutating func follow(_ former: BackoffRecord) { recorded = former.recorded }

    /// The queue no longer holds a record: another process removed it.
    mutating func forget() { recorded = nil }

    /// The backoff in the queue ends now: an operator resumed the destination.
    mutating func end(at now: Duration) { recorded = recorded.map { Backoff(kind: $0.kind, until: now) } }

    /// Records a successful write: the next failure is reported again.
    mutating func succeed() { hasFailed = false }

    /// A new kind, a beginning and an end are always recorded; a later end of the same kind from ``step`` on.
    private func isNews(_ present: Backoff?) -> Bool {
        guard let present, let recorded, present.kind == recorded.kind else { return present != recorded }
        return present.until >= recorded.until + Self.step
    }
}
