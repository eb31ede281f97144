package import SignalboxInApp
package import SignalboxNotification

/// Keeps in-app messages, and the rows that decisions about them read and write.
package protocol InAppStore: StoreStatus {
    /// Reports the messages that each commit registered, changed or withdrew, in the order of the commits. Those of
    /// events are among them, and removed ones count as withdrawn. Replaces an earlier call. `onChange` runs on a
    /// thread of the store: it must not block, and must not call the store.
    ///
    /// Call it before the messages are read, so that no change between the two is lost.
    func openInApp(onChange: @escaping @Sendable ([StoredInAppMessage]) -> Void)

    /// Runs a decision over the rows of a device and its user, and commits its changes and events in the commit that
    /// other requests share. Decisions never overlap. Calls `done` once, on a thread of the store that must not block.
    /// Callable from any thread; does not block.
    ///
    /// The step runs on a thread of the store and must not block. It may run again if its commit failed together with
    /// others, so it must be a pure function of the rows. Fails with ``StoreError/undecided(after:)`` as appends do.
    func decide(_ decision: InAppDecision, whenDone done: @escaping @Sendable (Result<Void, StoreError>) -> Void)

    /// The rows of a device and its user, for explanations. Locks and writes nothing.
    func rows(of subject: InAppSubject, tallies: [MessageID]) async throws(StoreError) -> InAppRows

    /// Stores a message. A body and an address that equal the stored ones of a message that is not withdrawn change
    /// nothing. Otherwise the revision grows by one. `action`: recorded in the same transaction, even if nothing
    /// changed; nil records nothing.
    func register(
        _ message: InAppRegistration, as action: OperatorAction?
    ) async throws(StoreError) -> StoredInAppMessage

    /// Ends a message: no new offers. Returns nil if the id is unknown. Repeating it changes nothing. Only
    /// ``register(_:as:)`` brings the message back, and no event does. `action`: as above.
    func withdraw(message id: MessageID, as action: OperatorAction?) async throws(StoreError) -> StoredInAppMessage?

    /// One message, withdrawn or not; nil if the id is unknown.
    func message(_ id: MessageID) async throws(StoreError) -> StoredInAppMessage?

    /// At most `count` messages in byte order of their ids, after `id`. Withdrawn ones only if `includingWithdrawn`.
    func messages(
        after id: MessageID?, upTo count: Int, includingWithdrawn: Bool
    ) async throws(StoreError) -> [StoredInAppMessage]

    /// Devices for which ``InAppStep/nextDue`` has come, the earliest first, at most `limit`.
    func dueDevices(at now: Instant, upTo limit: Int) async throws(StoreError) -> [DeviceID]

    /// The earliest ``InAppStep/nextDue`` of all devices; nil for none.
    func nextInAppDue() async throws(StoreError) -> Instant?
}

extension InAppStore {
    /// Makes a decision; `done` receives the result of the step that was committed. `tallies`: the campaigns whose
    /// tallies the decision may read, besides those of the device's offers.
    package func decide<Result: Sendable>(
        about subject: InAppSubject, tallies: [MessageID],
        _ step: @escaping @Sendable (InAppRows) -> InAppStep<Result>,
        whenDone done: @escaping @Sendable (Swift.Result<Result, StoreError>) -> Void
    ) {
        let decided = DecidedResult<Result>()
        let decision = InAppDecision(subject: subject, tallies: tallies) { rows in
            let made = step(rows)
            decided.set(made.result)
            return InAppStep((), changes: made.changes, nextDue: made.nextDue, events: made.events)
        }
        decide(decision) { result in done(result.map { decided.take() }) }
    }

    /// Like ``decide(about:tallies:_:whenDone:)``, and returns or throws its result.
    package func decide<Result: Sendable>(
        about subject: InAppSubject, tallies: [MessageID], _ step: @escaping @Sendable (InAppRows) -> InAppStep<Result>
    ) async throws(StoreError) -> Result {
        let result = await withCheckedContinuation {
            (done: CheckedContinuation<Swift.Result<Result, StoreError>, Never>) in
            decide(about: subject, tallies: tallies, step) { done.resume(returning: $0) }
        }
        return try result.get()
    }
}

/// The device and the user that a decision is about.
package enum InAppSubject: Sendable, Hashable {
    /// A request of a device. `user`: nil for an anonymous one.
    case device(DeviceID, user: UserID?)
    /// A report about an offer: its device, and the user of the offer.
    case offer(OfferID)
    /// The ends of leases, delays and displays of a device by time, for its last user.
    case due(DeviceID)
}

/// The rows that one decision reads.
package struct InAppRows: Sendable {
    /// Empty rows for a device or a user that is new.
    package var state: InAppState
    /// The newest messages addressed to the device, and those addressed to the user, without withdrawn ones. At most
    /// ``StoreLimits/addressedMessages`` of each.
    package var addressed: [StoredInAppMessage]
    /// Whether the subject is an offer that is not stored. The other values are empty then, and a step must change
    /// nothing.
    package var isUnknownOffer = false

    /// Takes the rows, and the messages that are addressed to their owners.
    package init(state: InAppState, addressed: [StoredInAppMessage] = []) {
        (self.state, self.addressed) = (state, addressed)
    }
}

/// The result of a decision, to be committed.
package struct InAppStep<Result: Sendable>: Sendable {
    /// Returned to the caller after the commit.
    package var result: Result
    /// The rows to write, in this order.
    package var changes: [RowChange]
    /// When the device has work without a request; nil for none. Stored with the device's row, so only if `changes`
    /// contain it.
    package var nextDue: Instant?
    /// Events about the transitions, with their deliveries.
    package var events: [RoutedEvent]

    package init(_ result: Result, changes: [RowChange] = [], nextDue: Instant? = nil, events: [RoutedEvent] = []) {
        (self.result, self.changes, self.nextDue, self.events) = (result, changes, nextDue, events)
    }
}

/// A stored message.
package struct StoredInAppMessage: Sendable, Hashable {
    package let registration: InAppRegistration
    /// From 1; grows with each change.
    package let revision: Int
    /// When this revision was stored, in milliseconds since 1970.
    package let registeredAt: Instant
    /// When the message was withdrawn; nil while it is active.
    package let withdrawnAt: Instant?

    package init(_ registration: InAppRegistration, revision: Int, registeredAt: Instant, withdrawnAt: Instant?) {
        self.registration = registration
        self.revision = revision
        self.registeredAt = registeredAt
        self.withdrawnAt = withdrawnAt
    }
}
