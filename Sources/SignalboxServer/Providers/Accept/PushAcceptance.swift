import SignalboxGateway
import SignalboxNotification

/// The way of pushes that passed the checks of their endpoint, for one config. Each step is a type of its own: the
/// limit of the source, failure rules, the queue, the real push service, then the captures.
final class PushAcceptance: Sendable {
    // A class because every push asks for it, and a copy of all that it holds costs as much as reading a small push.
    /// Endpoints also admit requests by it, before their bodies arrive.
    let admission: SourceAdmission
    /// Decides before the queue: a push that a rule answers makes no event.
    let failures: PushFailures
    let store: PushStore
    /// Nil records nothing.
    let captures: PushCaptures?
    /// Holds answers that a failure rule delays. Shared by all configs.
    let held: HeldReplies
    /// Nil if no source forwards pushes.
    let forwarding: PushForwarding?

    /// `captures`: nil records nothing. `forwarding`: nil if no source forwards pushes.
    init(
        admission: SourceAdmission, failures: PushFailures, store: PushStore, captures: PushCaptures? = nil,
        held: HeldReplies, forwarding: PushForwarding? = nil
    ) {
        self.admission = admission
        self.failures = failures
        self.store = store
        self.captures = captures
        self.held = held
        self.forwarding = forwarding
    }

    /// Makes the reply to a request from the answers to its pushes, which have the order of the pushes.
    typealias Wording = @Sendable ([PushAnswer]) -> ProviderReply

    /// Accepts the pushes of one request, all of one source. Calls `reply` once, on any thread, after their events are
    /// durable. An unavailable push was not stored, unless its commit took longer than ``StoreLimits/patience``: then
    /// it may still be stored. May be called on an event loop. A delay by a failure rule needs a place of ``held``;
    /// without one, all pushes are unavailable and none is stored.
    func accept(
        _ pushes: [ProviderPush], of request: ProviderRequest,
        _ reply: @escaping @Sendable (ProviderReply) -> Void, as words: @escaping Wording
    ) {
        let pushes = labelled(pushes, request.run, request.trace)
        let (decided, effects) = decide(pushes)
        guard effects.delay == nil || held.reserve() else {
            let answers = pushes.map { _ in PushAnswer.unavailable }
            let response = words(answers)
            captures?.record(pushes, answers, [], response, of: request)
            return reply(response)
        }
        let answer: @Sendable ([PushAnswer], [ProviderAnswer]?) -> Void = { [self] answers, stored in
            let response = effects.apply(to: words(answers))
            captures?.record(pushes, answers, stored ?? [], response, of: request)
            guard let delay = effects.delay else { return reply(response) }
            held.hold(for: delay) { reply(response) }
        }
        let open = decided.isEmpty ? pushes : pushes.indices.filter { decided[$0] == nil }.map { pushes[$0] }
        let plan = open.isEmpty ? .capture : forwarding?.plan(for: open, of: request) ?? .capture
        if case .refuse(let reason) = plan {
            forwarding?.recordRefusal(reason, of: pushes)
            return answer(pushes.map { _ in .unavailable }, nil)
        }
        store.append(open) { [self] stored in
            let answers = Self.answers(stored, decided, count: pushes.count)
            guard let forwarding, case .forward(let push) = plan, let event = answers.first?.event else {
                return answer(answers, stored)
            }
            forwarding.forward(push(event), alarm: store.alarm) { verdict in
                answer([verdict.map { .verdict($0) } ?? .unavailable], stored)
            }
        }
    }

    /// Like ``accept(_:of:_:as:)``, in a task.
    func accept(
        _ pushes: [ProviderPush], of request: ProviderRequest, as words: @escaping Wording
    ) async -> ProviderReply {
        await withCheckedContinuation { done in
            accept(pushes, of: request, { done.resume(returning: $0) }, as: words)
        }
    }

    /// The pushes with the label and the trace of their request; unchanged if it has neither.
    private func labelled(_ pushes: [ProviderPush], _ run: String?, _ trace: RequestTrace?) -> [ProviderPush] {
        guard run != nil || trace != nil else { return pushes }
        return pushes.map { push in
            var push = push
            (push.run, push.trace) = (run, trace)
            return push
        }
    }

    /// The answers to the pushes that are not stored, by position: those beyond the limit of their source, and those
    /// that a failure rule takes. Positions are those of `pushes`.
    private func decide(_ pushes: [ProviderPush]) -> (answers: [Int: PushAnswer], effects: PushEffects) {
        guard let source = pushes.first?.source else { return ([:], PushEffects()) }
        let admitted = admission.admit(pushes: pushes.count, from: source)
        var (answers, effects) = failures.decide(pushes[..<admitted])
        for position in admitted..<pushes.count { answers[position] = .limited }
        // If a failure applies to the whole request, it answers every push, and none is stored.
        let platform = pushes[0].platform
        if !answers.isEmpty,
            let whole = pushes.indices.lazy.compactMap({ answers[$0] }).first(where: {
                $0.isOfRequest(to: platform)
            })
        {
            for position in pushes.indices { answers[position] = whole }
        }
        return (answers, effects)
    }

    /// The answers to all pushes, in order: those of `decided`, and for the other pushes those of `stored`, in order. A
    /// nil `stored` means that the queue failed.
    private static func answers(
        _ stored: [ProviderAnswer]?, _ decided: [Int: PushAnswer], count: Int
    ) -> [PushAnswer] {
        guard let stored else { return (0..<count).map { decided[$0] ?? .unavailable } }
        guard !decided.isEmpty else { return stored.map { PushAnswer($0) } }
        var rest = stored[...]
        return (0..<count).map { position in
            decided[position] ?? rest.popFirst().map { PushAnswer($0) } ?? .unavailable
        }
    }
}

extension PushAnswer {
    fileprivate init(_ answer: ProviderAnswer) {
        switch answer {
        case .accepted(let routed): self = .accepted(event: routed.event.id.description)
        case .repeated(let event): self = .repeated(event: event)
        case .rejected(let rejection): self = .rejected(rejection)
        case .postponed: self = .limited
        }
    }
}
