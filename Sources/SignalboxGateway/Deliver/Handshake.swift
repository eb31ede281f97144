import SignalboxConfig

/// Decides when a lane requests the destination's permission. Pure: the caller passes the time, measured from any
/// start.
///
/// The lane requests it before the first delivery, when the permission has expired, and after the destination took it
/// back. After a refusal, it waits twice as long each time.
struct Handshake: Sendable {
    /// The times are the end of the permission and the time of the next request.
    private enum State: Equatable {
        /// The next attempt requests permission.
        case unasked
        case asking
        case given(until: Duration)
        case withheld(until: Duration)
    }

    /// The longest wait after a refusal.
    static let longestWait: Duration = .seconds(3600)

    /// How long a permission is valid.
    private let age: Duration
    /// The wait after each refusal in a row.
    private let retry: RetryPolicy
    private var state = State.unasked
    /// In a row, since the last permission.
    private var refusals = 0

    /// `age`: validity of a permission. `retry`: wait after a refusal, up to ``longestWait``. No permission was
    /// requested yet.
    init(age: Duration, retry: Destination.Retry) {
        self.age = age
        self.retry = RetryPolicy(retry)
    }

    /// The lane's next step. It starts no delivery unless the permission has been given.
    enum Permission: Equatable {
        case given
        /// Request it. The caller calls ``begin()``.
        case ask
        case withheld(until: Duration)
        /// A request is in flight.
        case asking
    }

    /// Does not change the state; an expired permission is requested again.
    func permission(at now: Duration) -> Permission {
        switch state {
        case .unasked: .ask
        case .asking: .asking
        case .given(let until): now < until ? .given : .ask
        case .withheld(let until): now < until ? .withheld(until: until) : .ask
        }
    }

    /// Until the answer, ``permission(at:)`` returns `asking`, so that one attempt asks at a time.
    mutating func begin() { state = .asking }

    /// Records that permission was not requested. The next attempt requests it. Has no effect unless a request was in
    /// flight.
    mutating func abandon() {
        if state == .asking { state = .unasked }
    }

    /// Permits deliveries for the whole age, and ends the row of refusals.
    mutating func given(at now: Duration) {
        state = .given(until: now + age)
        refusals = 0
    }

    /// `asked`: minimum wait that the destination named. The wait is the longer one of the own backoff and `asked`.
    /// The own backoff has no random part.
    mutating func withheld(at now: Duration, asked: Duration) {
        refusals += 1
        let wait = min(.seconds(retry.backoff(refusals)), Self.longestWait)
        state = .withheld(until: now + max(wait, asked))
    }

    /// Takes over a permission that was given to a predecessor; false if there is none.
    mutating func follow(_ former: Handshake?) -> Bool {
        guard let former, former.isGiven else { return false }
        state = former.state
        return true
    }

    /// Invalidates a permission that was given. Has no effect on a permission that is being requested or withheld.
    mutating func takeBack() {
        if isGiven { state = .unasked }
    }

    /// Requests a withheld permission at once. Used when an operator resumes the destination. Ends the row of
    /// refusals too.
    mutating func askAgain() {
        guard case .withheld = state else { return }
        state = .unasked
        refusals = 0
    }

    /// Also true after the age of the permission is over, until it is requested again.
    var isGiven: Bool { if case .given = state { true } else { false } }

    /// True if a destination that answers a delivery with this status may have withdrawn its permission: forbidden
    /// (403), gone (410), or more requests than permitted (429). The specification is CloudEvents, HTTP 1.1 Web Hooks
    /// for Event Delivery.
    static func isTakenBack(by status: Int?) -> Bool { status == 403 || status == 410 || status == 429 }
}
