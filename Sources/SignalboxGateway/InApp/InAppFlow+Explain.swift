import SignalboxInApp
import SignalboxStore

/// Questions of operators: why a message is shown, or not.
extension InAppFlow {
    /// Answers a "what if" question, by the function that decides triggers. Stores nothing. Reads the rows
    /// as they are; a decision that is committed meanwhile may or may not be among them.
    /// Throws ``InAppFailure/malformed(_:)`` for a mistake in the question and ``InAppFailure/store(_:)`` if the
    /// rows cannot be read. Counts in no metric, because no device asked.
    package func explain(_ body: [UInt8]) async throws(InAppFailure) -> [UInt8] {
        let snapshot = shared.messages.snapshot
        let form = try Self.form { () throws(FormFault) in
            try ExplainForm.read(body).resolved(by: snapshot.engine.policy)
        }
        let subject = InAppSubject.device(form.device, user: form.user)
        var rows = try await fromStore { () throws(StoreError) in try await store.rows(of: subject, tallies: []) }
        var active = snapshot.active(addressed: rows.addressed)
        let needed = active.tallies(of: form.event, rows.state.device, snapshot.engine.policy)
        if !needed.isEmpty {
            rows = try await fromStore { () throws(StoreError) in try await store.rows(of: subject, tallies: needed) }
            active = snapshot.active(addressed: rows.addressed)
        }
        let (state, now) = form.rows(over: rows.state, now: store.now.instant) { active[$0]?.message.vendor }
        let request = form.request(over: rows.state, ticket: "what-if")
        let decision = snapshot.engine.decide(request, state, messages: active, now: now, explain: true)
        let addressed = Dictionary(rows.addressed.map { ($0.registration.id, $0) }) { $1 }
        let forms = try await forms(of: decision.answer.offer.map { [$0] } ?? [], addressed)
        return AnswerForm.write(explanation: decision) { forms[$0] }
    }
}
