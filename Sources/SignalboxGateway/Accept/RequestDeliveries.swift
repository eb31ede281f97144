import SignalboxEgress
import SignalboxNotification
import SignalboxStore

/// Counts the deliveries of a request's events while they are read, so that a request which is too large is neither
/// kept in memory nor stored. A single event may have any number.
struct RequestDeliveries {
    private var events = 0
    private var count = 0

    /// Counts an event; a rejection has no deliveries. False if the events have more deliveries together than
    /// ``StoreLimits/deliveriesOfRequest``: then this one must not be stored with the others.
    mutating func admit(_ item: Result<RoutedEvent, Rejection>) -> Bool {
        guard case .success(let event) = item else { return true }
        return admit(event)
    }

    /// The same for an event that is not rejected.
    mutating func admit(_ event: RoutedEvent) -> Bool {
        events += 1
        count += event.deliveryCount
        return events == 1 || count <= StoreLimits.deliveriesOfRequest
    }
}

extension Intake {
    /// Returns after every event passed to ``accept(_:whenDone:)`` before has been committed or has failed. The
    /// server calls it during a stop, before the queue is closed.
    package func finish() async { await queue.finish() }

    /// The stored answer to an earlier request with the same key and body; nil without one. Throws
    /// ``Failure/keyReused`` if that request had another body.
    func answer(
        to repeatable: Repeatable?, _ body: [UInt8], from source: SourceName
    ) async throws(Failure) -> StoredAnswer? {
        guard let repeatable else { return nil }
        let earlier: AppendResult?
        do throws(StoreError) {
            earlier = try await DelayedCall.onQueue.answer { [queue] () throws(StoreError) in
                try await queue.result(ofKey: repeatable.key, digest: sha256(body), from: source)
            }
        } catch { throw .store(error) }
        switch earlier {
        case .repeated(let answer)?: return answer
        case .conflicting?: throw .keyReused
        case .appended?, nil: return nil
        }
    }
}
