import SignalboxGateway
import SignalboxNotification

/// The way of pushes that passed the checks of their endpoint, for one config. Each step is a type of its own: the
/// limit of the source, then the queue.
struct PushAcceptance: Sendable {
    let admission: SourceAdmission
    let store: PushStore

    /// Makes the reply to a request of the answers to its pushes, in their order.
    typealias Wording = @Sendable ([PushAnswer]) -> ProviderReply

    /// Accepts the pushes of one request, which have its source. Calls `reply` once, on any thread, after their events
    /// are durable. An unavailable push was not stored, unless its commit took longer than ``StoreLimits/patience``:
    /// then it may still be stored. May be called on an event loop.
    func accept(
        _ pushes: [ProviderPush], of request: ProviderRequest,
        _ reply: @escaping @Sendable (ProviderReply) -> Void, as words: @escaping Wording
    ) {
        let decided = limited(pushes)
        let open = decided.isEmpty ? pushes : pushes.indices.filter { decided[$0] == nil }.map { pushes[$0] }
        store.append(open) { stored in
            reply(words(Self.answers(stored, decided, count: pushes.count)))
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

    /// The answers to the pushes beyond the limit of their source, by position.
    private func limited(_ pushes: [ProviderPush]) -> [Int: PushAnswer] {
        guard let source = pushes.first?.source else { return [:] }
        let admitted = admission.admit(pushes: pushes.count, from: source)
        guard admitted < pushes.count else { return [:] }
        return Dictionary(uniqueKeysWithValues: (admitted..<pushes.count).map { ($0, .limited) })
    }

    /// `stored`: of the pushes that were not decided, in order.
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
        case .accepted(let event): self = .accepted(event: event.id.description)
        case .repeated(let event): self = .repeated(event: event)
        case .rejected(let rejection): self = .rejected(rejection)
        }
    }
}
