import SignalboxStore

/// Decides when a lane records that it leaves its destination alone, so that what is recorded follows what holds. Pure.
struct BackoffRecord: Sendable {
    struct Backoff: Sendable, Equatable {
        let kind: DestinationBackoff.Kind
        /// By the lane's time.
        let until: Duration
    }

    enum Step: Sendable, Equatable {
        case done
        /// Nil: it is no longer left alone.
        case record(Backoff?)
    }

    private(set) var recorded: Backoff?
    private var isRecording = false
    private var hasFailed = false

    /// A time that moves by less is not recorded again.
    private static let step: Duration = .seconds(1)

    /// Begins to record; false while another attempt does, whose next step is this one's.
    mutating func begin() -> Bool {
        defer { isRecording = true }
        return !isRecording
    }

    /// The next step, when `present` holds; recording ends with ``Step/done``.
    mutating func next(_ present: Backoff?) -> Step {
        guard isNews(present) else {
            isRecording = false
            return .done
        }
        recorded = present
        return .record(present)
    }

    /// What was to be recorded could not be: the next attempt tries again. True for the first failure in a row.
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
