import SignalboxEgress
import SignalboxNotification
import SignalboxRouting
package import SignalboxStore

extension Intake {
    /// Accepts a push. Its event is durable when this returns ``ProviderAnswer/accepted(event:)``. Throws
    /// ``Failure/store(_:)`` only.
    package func accept(_ push: ProviderPush) async throws(Failure) -> ProviderAnswer {
        let read = read(push, by: routes)
        // Each append calls its handler once.
        let result = await withCheckedContinuation { done in store(read, of: push) { done.resume(returning: $0) } }
        do throws(StoreError) { return try result.get() } catch { throw .store(error) }
    }

    /// Accepts a push without waiting. Calls `done` once, when the event is durable or was not stored, on any thread,
    /// which it must not block. May be called on an event loop: routes that take long are evaluated in a task.
    package func accept(
        _ push: ProviderPush, whenDone done: @escaping @Sendable (Result<ProviderAnswer, StoreError>) -> Void
    ) {
        if readsAtOnce {
            let read = read(push, by: quickRoutes)
            if case .failure(let rejection) = read, rejection.code == .tooCostly {
            } else {
                return store(read, of: push, whenDone: done)
            }
        }
        // Unstructured, because the caller is an event loop, which must not wait. `done` ends it.
        Task { store(read(push, by: routes), of: push, whenDone: done) }
    }

    /// The routed event of a push, read on the calling thread.
    private func read(_ push: ProviderPush, by routes: RouteTable) -> Result<RoutedEvent, Rejection> {
        push.body.withUnsafeBufferPointer { text in
            route(event(of: RecordedPayload(text: text, of: push), from: push.source), from: push.source, by: routes)
        }
    }

    /// Appends the event. A rejection is answered at once.
    private func store(
        _ read: Result<RoutedEvent, Rejection>, of push: ProviderPush,
        whenDone done: @escaping @Sendable (Result<ProviderAnswer, StoreError>) -> Void
    ) {
        switch read {
        case .failure(let rejection): done(.success(.rejected(rejection)))
        case .success(let event):
            let id = event.event.id.description
            queue.append([event], of: push.request(storing: id)) { result in
                switch result {
                case .success(.appended(let duplicates)):
                    count([event], without: duplicates)
                    done(.success(duplicates[0].map { .repeated(event: $0) } ?? .accepted(event: id)))
                case .success(.repeated(let answer)):
                    done(.success(.repeated(event: String(decoding: answer.body, as: UTF8.self))))
                case .success(.conflicting):
                    // The key contains the digest, so only a changed file has another one.
                    done(.failure(.unavailable(reason: "the record of an earlier push was changed")))
                case .failure(let error): done(.failure(error))
                }
            }
        }
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
        ) { duplicates in
            StoredAnswer(status: 200, body: Array((duplicates[0] ?? id).utf8))
        }
    }
}
