package import SignalboxInApp
package import SignalboxNotification
import SignalboxStore

// Requests of devices in three steps: read, decide and commit, write the answer. The router runs them in a task, the
// server's direct path on the event loop of a connection, without a task.

extension InAppFlow {
    /// A request of a device that is valid and not decided yet.
    /// May be decided once. Holds the ticket of its offers, so a second decision would give the same ids.
    package struct DeviceRequest: Sendable {
        /// Calls its second argument once, after the commit, where the first one runs its work.
        fileprivate let decide: @Sendable (@escaping Executor, @escaping Done) -> Void
    }

    /// Runs its argument once, soon, on a thread that must not block. Called on a thread of the store, which commits
    /// no further decision until it returns.
    package typealias Executor = @Sendable (@escaping @Sendable () -> Void) -> Void

    /// Called once, where the executor of the request runs its work.
    package typealias Done = @Sendable (Result<Answered, InAppFailure>) -> Void

    /// A decision that is on disk, with all that its answer needs.
    /// Offers that a client has received are leased to it: it must report them.
    package struct Answered: Sendable {
        let offers: [Offer]
        /// The addressed messages among the offered ones.
        let addressed: [MessageID: StoredInAppMessage]
        /// The body of the answer, given the forms of the offered messages.
        let write: @Sendable (AnswerForm.Lookup) -> [UInt8]
    }

    // MARK: Read

    /// Reads a trigger: the body of `POST /v1/inapp/triggers`. Throws ``InAppFailure/malformed(_:)``, and
    /// ``InAppFailure/mayNotExplain`` for an explanation unless `mayExplain`: it tells the history of a user. Takes
    /// microseconds and does not block.
    package func read(
        trigger body: [UInt8], from source: SourceName, mayExplain: Bool
    ) throws(InAppFailure) -> DeviceRequest {
        let (request, explains) = try Self.form { () throws(FormFault) in
            try TriggerForm.read(body, ticket: ticket)
        }
        guard mayExplain || !explains else { throw .mayNotExplain }
        let question = Question<Answer>(
            subject: .device(request.device, user: request.user), source: source,
            capped: ActiveMessages(shared.messages.settledIndex).tallies(for: request.event)
        ) { state, active, policy in
            active.tallies(of: request.event, state.device, policy)
        } decide: { engine, state, active, now in
            let decision = engine.decide(request, state, messages: active, now: now, explain: explains)
            return .success((decision.answer, decision))
        }
        return deviceRequest(question) { committed in
            let answer = committed.value
            shared.counts.count(answer.isRepeat ? .repeated : committed.result)
            return Answered(offers: answer.offer.map { [$0] } ?? [], addressed: committed.addressed) {
                AnswerForm.write(answer, explain: explains, form: $0)
            }
        }
    }

    /// Reads a page of slots: the body of `POST /v1/inapp/slots`. As ``read(trigger:from:mayExplain:)``.
    package func read(
        page body: [UInt8], from source: SourceName, mayExplain: Bool
    ) throws(InAppFailure) -> DeviceRequest {
        let (request, explains) = try Self.form { () throws(FormFault) in
            try SlotForm.read(body, ticket: ticket)
        }
        guard mayExplain || !explains else { throw .mayNotExplain }
        let names = Set(request.slots.map(\.label.name))
        let question = Question<SlotDecision>(
            subject: .device(request.device, user: request.user), source: source,
            capped: ActiveMessages(shared.messages.settledIndex).tallies(ofSlots: names)
        ) { _, active, _ in
            active.tallies(ofSlots: names)
        } decide: { engine, state, active, now in
            let placed = engine.place(request, state, messages: active, now: now, explain: explains)
            return .success((placed, placed.decision))
        }
        return deviceRequest(question) { committed in
            let placed = committed.value
            for slot in placed.slots { shared.counts.count(slot.offer == nil ? .none : .offered) }
            return Answered(offers: placed.slots.compactMap(\.offer), addressed: committed.addressed) {
                AnswerForm.write(placed, explain: explains, form: $0)
            }
        }
    }

    /// Reads a report: the body of `POST /v1/inapp/offers/{id}/outcome`. `offer`: the id in the path, decoded. As
    /// ``read(trigger:from:mayExplain:)``. The decision fails with `unknownOffer` even if the report names another
    /// device than the offer's, and if that device is of another source.
    package func read(
        report body: [UInt8], of offer: OfferID, from source: SourceName
    ) throws(InAppFailure) -> DeviceRequest {
        let form = try Self.form { () throws(FormFault) in
            try ReportForm.read(body, offer: offer, ticket: ticket)
        }
        let question = Question<Reported>(subject: .offer(offer), source: source) { state, active, _ in
            // Only the runners-up may follow in the same turn; a late impression may exceed its own cap.
            state.offers[offer].map { active.tallies(of: [$0.message] + $0.runnersUp) } ?? []
        } decide: { engine, state, active, now in
            Result { () throws(ReportFault) in
                let report = form.report(on: state.device.id)
                let decision = try engine.report(report, state, messages: active, now: now)
                return (
                    Reported(offer: decision.state.offers[offer], answer: decision.answer, outcome: report.outcome),
                    decision
                )
            }
        }
        return deviceRequest(question) { committed in
            let reported = committed.value
            shared.counts.count(reported.answer.isRepeat ? .repeated : .accepted, of: reported.outcome)
            return Answered(offers: reported.answer.offer.map { [$0] } ?? [], addressed: committed.addressed) {
                AnswerForm.write(report: reported.answer, about: reported.offer, form: $0)
            }
        }
    }

    /// An accepted report.
    private struct Reported: Sendable {
        /// After the report.
        let offer: Offer?
        let answer: Answer
        let outcome: Report.Outcome
    }

    /// `answered`: counts the decision and describes its answer.
    /// Counts failures too.
    private func deviceRequest<Value: Sendable>(
        _ question: Question<Value>, _ answered: @escaping @Sendable (Committed<Value>) -> Answered
    ) -> DeviceRequest {
        DeviceRequest { executor, done in
            decide(question, on: executor) { result in
                if case .failure(let failure) = result { shared.counts.count(failure) }
                done(result.map(answered))
            }
        }
    }

    // MARK: Decide

    /// Whether a decision waits until changed messages are parsed, which takes milliseconds for large ones: an event
    /// loop leaves its request to a task then.
    package var mayWait: Bool { shared.messages.waiting > 0 }

    /// Decides a request. Calls `done` once, on `executor`: after the commit, or with a failure. Callable from any
    /// thread; does not block.
    package func decide(_ request: DeviceRequest, on executor: @escaping Executor, whenDone done: @escaping Done) {
        request.decide(executor, done)
    }

    /// Decides a request, and returns the body of its answer once the decision is durable. A client may repeat a
    /// request with its id after any failure. Throws ``InAppFailure/foreignDevice`` for a device of another source.
    package func answer(_ request: DeviceRequest) async throws(InAppFailure) -> [UInt8] {
        let result = await withCheckedContinuation {
            (done: CheckedContinuation<Result<Answered, InAppFailure>, Never>) in
            request.decide({ $0() }) { done.resume(returning: $0) }
        }
        return try await body(of: result.get())
    }

    // MARK: Write

    /// The body of an answer; nil if it needs the content of a message that is not in memory. ``body(of:)`` reads it.
    /// Callable on an event loop.
    package func bodyAtOnce(of answered: Answered) -> [UInt8]? {
        guard answered.offers.isEmpty || !mayWait else { return nil }
        guard let offer = answered.offers.first else { return answered.write { _ in nil } }
        // A page of slots may have many offers; it takes the router's path.
        guard answered.offers.count == 1, let form = knownForm(of: offer.message, answered.addressed) else {
            return nil
        }
        return answered.write { $0 == offer.message ? form : nil }
    }

    /// The body of an answer, with the contents of the offered messages.
    package func body(of answered: Answered) async throws(InAppFailure) -> [UInt8] {
        let forms = try await forms(of: answered.offers, answered.addressed)
        return answered.write { forms[$0] }
    }
}
