import SignalboxConfig

/// Decides whether a destination must be asked for permission before it is sent to. Pure: the time comes in, counted
/// from any start.
///
/// It is asked before the first delivery, when the permission has reached its age, and when it took the permission back.
/// Who does not give it is asked again after a wait that doubles each time.
struct Handshake: Sendable {
    private enum State: Equatable {
        case unasked
        case asking
        case given(until: Duration)
        case withheld(until: Duration)
    }

    /// However often it was not given.
    static let longestWait: Duration = .seconds(3600)

    private let age: Duration
    private let retry: RetryPolicy
    private var state = State.unasked
    private var refusals = 0

    /// `age`: how long a permission is good. `retry`: how long to wait before asking again, up to ``longestWait``.
    init(age: Duration, retry: Destination.Retry) {
        self.age = age
        self.retry = RetryPolicy(retry)
    }

    enum Permission: Equatable {
        case given
        /// Whoever asks calls ``begin()``.
        case ask
        case withheld(until: Duration)
        /// Until the answer is here.
        case asking
    }

    func permission(at now: Duration) -> Permission {
        switch state {
        case .unasked: .ask
        case .asking: .asking
        case .given(let until): now < until ? .given : .ask
        case .withheld(let until): now < until ? .withheld(until: until) : .ask
        }
    }

    mutating func begin() { state = .asking }

    /// Nobody asked after all.
    mutating func abandon() {
        if state == .asking { state = .unasked }
    }

    mutating func given(at now: Duration) {
        state = .given(until: now + age)
        refusals = 0
    }

    /// `asked`: how long it wants not to be asked again.
    mutating func withheld(at now: Duration, asked: Duration) {
        refusals += 1
        let wait = min(.seconds(retry.backoff(refusals)), Self.longestWait)
        state = .withheld(until: now + max(wait, asked))
    }

    /// A permission that it gave counts no more.
    mutating func takeBack() {
        if isGiven { state = .unasked }
    }

    /// Somebody wants that it is asked again at once if it gave no permission.
    mutating func askAgain() {
        guard case .withheld = state else { return }
        state = .unasked
        refusals = 0
    }

    var isGiven: Bool { if case .given = state { true } else { false } }

    /// Whether a destination that answers a delivery so may have changed its mind: it refuses (403), is gone (410), or
    /// finds that it gets more than it permits (429).
    static func isTakenBack(by status: Int?) -> Bool { status == 403 || status == 410 || status == 429 }
}
