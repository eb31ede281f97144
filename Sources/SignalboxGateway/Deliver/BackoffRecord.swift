import SignalboxStore

/// Decides when a lane records a change of its backoff, so that the record in the queue matches the lane's state.
/// Pure.
struct BackoffRecord: Sendable {
    struct Backoff: Sendable, Equatable {
        let kind: DestinationBackoff.Kind
        /// On the lane's clock.
        let until: Duration
    }

    enum Step: Sendable, Equatable {
        case done
        /// Nil: the backoff has ended.
        case record(Backoff?)
    }

    private(set) var recorded: Backoff?
    private var isRecording = false
    private var hasFailed = false

    /// A shift of the end by less than this is not recorded.
    private static let step: Duration = .seconds(1)

    /// Starts recording. False while another attempt records: its next step covers this change too.
    mutating func begin() -> Bool {
        defer { isRecording = true }
        return !isRecording
    }

    /// The next step for the present backoff. Recording ends with ``Step/done``.
    mutating func next(_ present: Backoff?) -> Step {
        guard isNews(present) else {
            isRecording = false
            return .done
        }
        recorded = present
        return .record(present)
    }

    /// Records a failed write; the next attempt retries it. True for the first failure in a row.
    mutating func fail(before former: Backoff?) -> Bool {
        (recorded, isRecording) = (former, false)
        defer { hasFailed = true }
        return !hasFailed
    }

    mutating func succeed() { hasFailed = false }

    private func isNews(_ present: Backoff?) -> Bool {
        guard let present, let recorded, present.kind == recorded.kind else { return present != recorded }
        return present.until >= recorded.until + Self.step
    }
}
