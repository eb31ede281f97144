import Foundation
import SignalboxEgress
package import SignalboxNotification
import SignalboxRouting
package import SignalboxStore

extension Intake {
    /// Accepts the pushes of one request without waiting. Calls `done` once, when all their events are durable or none
    /// was stored, on any thread; it must not block that thread. `done` receives an answer for each push, in order. The
    /// events have at most ``StoreLimits/deliveriesOfRequest``; further pushes are postponed. May be called on an event
    /// loop: several pushes, and routes that take long, are read in a task. All pushes must have the same source. Only
    /// a push that is alone may have a ``ProviderPush/repeatKey``.
    package func accept(
        _ pushes: [ProviderPush], whenDone done: @escaping @Sendable (Result<[ProviderAnswer], StoreError>) -> Void
    ) {
        precondition(
            pushes.count <= 1 || pushes.allSatisfy { $0.repeatKey == nil },
            "Several pushes of a request have no name by which it is repeated.")
        if readsAtOnce, pushes.count == 1 {
            let read = read(pushes[0], at: now(), by: quickRoutes)
            if case .failure(let rejection) = read, rejection.code == .tooCostly {
            } else {
                return store([read], of: pushes, whenDone: done)
            }
        }
        // Unstructured, because the caller is an event loop, which must not wait. `done` ends it.
        Task {
            let time = now()
            var reads: [Result<RoutedEvent, Rejection>] = []
            var deliveries = RequestDeliveries()
            for push in pushes {
                let read = read(push, at: time, by: routes)
                guard deliveries.admit(read) else { break }
                reads.append(read)
            }
            store(reads, of: pushes, whenDone: done)
        }
    }

    /// The tokens of a request that becomes several pushes, for ``ProviderPush/requestTokens``. `tokens`: those of all
    /// addressees, even if an addressee gets no push. Nil for a request to one addressee.
    package func tokens(ofRequest tokens: [[UInt8]]) -> RequestTokens? {
        guard tokens.count > 1 else { return nil }
        let mask = TokenMask(normalizer.targets(tokens), hashedBy: normalizer.tokens)
        return mask.map { RequestTokens(mask: $0) }
    }

    /// The event that a push would become, read on the calling thread and not stored. It uses up no sample of the live
    /// view. Throws the rejection of a body that cannot be read.
    package func preview(of push: ProviderPush) throws(Rejection) -> Event {
        try withText(of: push) { event(of: $0, from: push.source, at: now(), by: normalizer.forPreviews) }.get()
    }

    /// The routed event of a push, read on the calling thread.
    private func read(_ push: ProviderPush, at time: Date, by routes: RouteTable) -> Result<RoutedEvent, Rejection> {
        withText(of: push) {
            route(event(of: $0, from: push.source, at: time, trace: push.trace), from: push.source, by: routes)
        }
    }

    /// Bodies for APNs are payloads as they are; others are trimmed, as bodies of the gateway's own API.
    private func withText<R>(of push: ProviderPush, _ read: (RecordedPayload) -> R) -> R {
        push.body.withUnsafeBufferPointer { text in
            read(RecordedPayload(text: push.platform == .apns ? text : text.trimmed, of: push))
        }
    }

    /// Appends the events in one commit. Rejections alone are answered at once. `reads`: of the first pushes; the
    /// others are postponed.
    private func store(
        _ reads: [Result<RoutedEvent, Rejection>], of pushes: [ProviderPush],
        whenDone done: @escaping @Sendable (Result<[ProviderAnswer], StoreError>) -> Void
    ) {
        let events = reads.compactMap { try? $0.get() }
        guard let first = events.first else { return done(.success(Self.answers(to: pushes, reads, [:]))) }
        // A push without a name is not copied for the question.
        let isNamed = pushes.count == 1 && pushes[0].repeatKey != nil
        let request = isNamed ? pushes[0].request(storing: first.event.id.description) : nil
        let trace = pushes.first?.trace
        // Not `self`, because a copy of all that it holds takes longer than the rest.
        queue.append(events, of: request) { [variants] result in
            switch result {
            case .success(.appended(let duplicates)):
                variants.count(events, without: duplicates)
                trace?.recordCreation(of: events, without: duplicates)
                done(.success(Self.answers(to: pushes, reads, duplicates)))
            case .success(.repeated(let answer)):
                done(.success([.repeated(event: String(decoding: answer.body, as: UTF8.self))]))
            case .success(.conflicting):
                // The key contains the digest, so only a changed file has another one.
                done(.failure(.unavailable(reason: "the record of an earlier push was changed")))
            case .failure(let error): done(.failure(error))
            }
        }
    }

    /// `duplicates`: ids of the earlier events that events repeat, by position among the events.
    private static func answers(
        to pushes: [ProviderPush], _ reads: [Result<RoutedEvent, Rejection>], _ duplicates: [Int: String]
    ) -> [ProviderAnswer] {
        var position = 0
        let answers = reads.map { read -> ProviderAnswer in
            switch read {
            case .failure(let rejection): return .rejected(rejection)
            case .success(let event):
                defer { position += 1 }
                return duplicates[position].map { .repeated(event: $0) } ?? .accepted(event)
            }
        }
        return answers + repeatElement(.postponed, count: pushes.count - reads.count)
    }
}

extension ProviderPush {
    /// The request by which the store recognises a repeat; nil without a ``repeatKey``. The stored answer is the id of
    /// the event.
    fileprivate func request(storing id: String) -> IdempotentRequest? {
        guard let repeatKey else { return nil }
        let addressee = (token ?? Array((channel ?? "").utf8)) + [0]
        let digest = sha256(addressee + body)
        // A space, which no `Idempotency-Key` contains, separates these keys from those of the gateway's own API.
        return IdempotentRequest(
            from: source, key: "\(platform.rawValue) \(repeatKey) \(hexadecimal(digest))", digest: digest
        ) { duplicates in StoredAnswer(status: 200, body: Array((duplicates[0] ?? id).utf8)) }
    }
}
