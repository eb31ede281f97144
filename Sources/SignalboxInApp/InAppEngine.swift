/// Decides which in-app message a device shows, across vendors, and explains every candidate that lost. Each
/// function is pure: state, input and time in, a ``Decision`` out. The caller loads the rows, commits the changes in
/// one transaction that no other decision about the same user or device overlaps, and then sends the answer. A
/// campaign's tally is shared by all users, so decisions that read one must not overlap either.
package struct InAppEngine: Sendable {
    /// As given; a reload makes another engine.
    package let policy: Policy

    /// The policy must be valid (``Policy/validate()``).
    package init(policy: Policy) { self.policy = policy }

    /// Answers a trigger. The state must be of the request's device, and of its user or the device's
    /// ``AnonymousUser``. `explain` adds every candidate to the answer and changes nothing else. To ask "what if",
    /// pass another state, policy, event or time and drop the changes.
    package func decide(
        _ request: TriggerRequest, _ state: consuming InAppState, messages: ActiveMessages, now: Instant,
        explain: Bool = false
    ) -> Decision {
        Self.check(state, device: request.device, user: request.user)
        var turn = Turn(policy, messages, state, now: now, ticket: request.ticket, explains: explain)
        turn.decide(request)
        // A repeat has changed nothing.
        if turn.answer.isRepeat {
            let state = turn.state
            return turn.unchanged(from: state)
        }
        return turn.decision()
    }

    /// Accepts a client's report. The state must be of the offer's device and of the offer's user. Throws without any
    /// change for an unknown offer and for a contradiction. The answer may hold the next offer: a message that follows
    /// on the stack, or the next one of the same event.
    package func report(
        _ report: Report, _ state: InAppState, messages: ActiveMessages, now: Instant
    ) throws(ReportFault) -> Decision {
        var turn = Turn(policy, messages, state, now: now, ticket: report.ticket)
        try turn.report(report)
        // A repeat changes nothing, unless time has ended offers since: the answer has the state after it.
        return turn.answer.isRepeat && !turn.changesOffers ? turn.unchanged(from: state) : turn.decision()
    }

    /// Fills the slots of a page.
    package func place(
        _ request: SlotRequest, _ state: InAppState, messages: ActiveMessages, now: Instant, explain: Bool = false
    ) -> SlotDecision {
        Self.check(state, device: request.device, user: request.user)
        var turn = Turn(policy, messages, state, now: now, ticket: request.ticket, explains: explain)
        let (slots, error) = turn.place(request)
        return SlotDecision(slots: slots, error: error, decision: turn.decision())
    }

    /// Ends what time has ended: leases, delays, waits and silent displays. Never shows a message: a client must
    /// ask. Call it at ``Decision/nextDue``; without it, the device's next request does the same.
    package func advance(_ state: InAppState, messages: ActiveMessages, now: Instant) -> Decision {
        var turn = Turn(policy, messages, state, now: now)
        turn.sweep()
        return turn.decision()
    }

    /// Rows of another device or user would be written under the wrong key: a mistake of the caller.
    private static func check(_ state: InAppState, device: DeviceID, user: UserID?) {
        precondition(state.device.id == device, "The state is of another device than the request.")
        precondition(
            state.user.id == user ?? AnonymousUser.id(on: device), "The state is of another user than the request.")
    }
}
