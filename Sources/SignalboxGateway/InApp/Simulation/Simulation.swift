import SignalboxInApp
import SignalboxNotification

/// Decides a timeline as a gateway would, without network, store or clock. Equal timelines give equal steps.
/// The engine, the policy and the forms are those of the gateway, so a step has the decision that a gateway would
/// make over the same rows. Explanations are always complete.
package struct Simulation: Sendable {
    /// Rows and messages so far.
    private var memory = InAppMemory()
    /// The engine, under the policy of the latest line that has one.
    private var engine: InAppEngine
    /// When each device has work without a request.
    /// Absent for a device without such work.
    private var dues = ExactTextMap<Instant>()
    /// The offers of named lines, by slot; the slot is nil for triggers and outcomes.
    private var named: [String: [String?: OfferID]] = [:]
    /// The offer of the latest decision with an offer; nil before the first.
    private var last: OfferID?

    private init(_ policy: Policy) { engine = InAppEngine(policy: policy) }

    /// Passes on the steps in the order of their times: one for each line, and one whenever time alone ends an offer
    /// before the next line.
    package static func run(_ timeline: Timeline, _ pass: (SimulationStep) -> Void) {
        var simulation = Simulation(timeline.policy)
        for line in timeline.lines {
            simulation.elapse(until: line.at, pass)
            if let step = simulation.step(line) { pass(step) }
        }
    }

    // MARK: Time

    /// Ends everything whose time is over at this instant, the earliest first.
    /// Each device is advanced at exactly its due time, as a timer without delay would.
    private mutating func elapse(until now: Instant, _ pass: (SimulationStep) -> Void) {
        while let due = dues.values.min(), due <= now {
            for (device, _) in dues.compactMapValues({ $0 == due ? $0 : nil }).inOrder() {
                let user = memory.user(of: device)
                let decision = engine.advance(
                    memory.state(device: device, user: user), messages: memory.messages(device: device, user: user),
                    now: due)
                keep(decision)
                // A due time that did not move would never end.
                if let next = dues[device], next <= due { dues[device] = nil }
                if !decision.records.isEmpty {
                    pass(SimulationStep(at: due, device: device, user: user, .time, records: decision.records))
                }
            }
        }
    }

    /// Applies a decision as a commit would, and remembers its offer for later lines.
    private mutating func keep(_ decision: Decision, of line: Timeline.Line? = nil) {
        memory.apply(decision.changes)
        dues[decision.state.device.id] = decision.nextDue
        guard let offer = decision.answer.offer else { return }
        remember(offer, of: line)
    }

    /// An offer of an unnamed line is known as the last one only.
    private mutating func remember(_ offer: Offer, of line: Timeline.Line?) {
        last = offer.id
        if let name = line?.name { named[name, default: [:]][offer.slot?.name] = offer.id }
    }

    // MARK: Lines

    /// Nil for a line that only lets time pass.
    /// Messages, withdrawals and policies have an effect on later lines only.
    private mutating func step(_ line: Timeline.Line) -> SimulationStep? {
        switch line.action {
        case .message(let definition, let address):
            memory.register(definition, for: address)
            return SimulationStep(line, .message(definition.message.id, revision: definition.message.revision))
        case .unchanged(let id): return SimulationStep(line, .message(id, revision: nil))
        case .withdraw(let id): return SimulationStep(line, .withdraw(id, isKnown: memory.withdraw(id)))
        case .policy(let policy):
            engine = InAppEngine(policy: policy)
            memory.follow(policy)
            return SimulationStep(line, .policy)
        case .trigger(let request): return trigger(request, line)
        case .outcome(let form, let reference): return outcome(form, reference, line)
        case .slots(let request): return place(request, line)
        case .none: return nil
        }
    }

    /// Decides as ``InAppFlow/read(trigger:from:mayExplain:)``.
    private mutating func trigger(_ request: TriggerRequest, _ line: Timeline.Line) -> SimulationStep {
        let user = request.user ?? AnonymousUser.id(on: request.device)
        let decision = engine.decide(
            request, memory.state(device: request.device, user: user),
            messages: memory.messages(device: request.device, user: user), now: line.at, explain: true)
        keep(decision, of: line)
        var step = SimulationStep(line, .trigger(request.event), device: request.device, user: user)
        step.answer = decision.answer
        step.records = decision.records
        return step
    }

    /// Decides as ``InAppFlow/read(report:of:from:)``. A report about an offer that no line gave is skipped, and the
    /// simulation continues.
    private mutating func outcome(
        _ form: ReportForm, _ reference: Timeline.OfferReference, _ line: Timeline.Line
    ) -> SimulationStep {
        let action = SimulationStep.Action.outcome(form.report(on: "").outcome, reference.text)
        let id: OfferID? =
            switch reference {
            case .last: last
            case .named(let name, let slot): named[name]?[slot]
            }
        guard let id, let offer = memory.offers[id] else {
            var step = SimulationStep(line, action)
            step.problem = id == nil ? "no-offer" : "unknown-offer"
            return step
        }
        var step = SimulationStep(line, action, device: offer.device, user: offer.user)
        var report = form.report(on: offer.device)
        report.offer = id
        do throws(ReportFault) {
            let decision = try engine.report(
                report, memory.state(device: offer.device, user: offer.user),
                messages: memory.messages(device: offer.device, user: offer.user), now: line.at)
            keep(decision, of: line)
            step.answer = decision.answer
            step.records = decision.records
            step.reported = memory.offers[id]
        } catch {
            switch error {
            case .unknownOffer: step.problem = "unknown-offer"
            case .conflict(let conflict): step.problem = conflict.code.rawValue
            }
        }
        return step
    }

    /// Decides as ``InAppFlow/read(page:from:mayExplain:)``.
    private mutating func place(_ request: SlotRequest, _ line: Timeline.Line) -> SimulationStep {
        let user = request.user ?? AnonymousUser.id(on: request.device)
        let placed = engine.place(
            request, memory.state(device: request.device, user: user),
            messages: memory.messages(device: request.device, user: user), now: line.at, explain: true)
        keep(placed.decision)
        for offer in placed.slots.compactMap(\.offer) { remember(offer, of: line) }
        var step = SimulationStep(line, .slots(page: request.page), device: request.device, user: user)
        step.placed = placed
        step.records = placed.decision.records
        return step
    }
}
