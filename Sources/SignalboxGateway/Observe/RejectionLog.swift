import DequeModule
import Synchronization

/// The newest refused payloads, in memory. A restart begins with an empty log.
///
/// A class because all endpoints share it. Callable from any thread.
package final class RejectionLog: Sendable {
    /// The most refusals of identified senders.
    static let most = 200
    /// The most refusals without a source. A client without access can cause any number of them, so it may displace
    /// at most this many of the others from ``newest``.
    static let mostUnidentified = 50

    private struct Refusals {
        var identified = Deque<(Int64, RefusedPayload)>()
        var unidentified = Deque<(Int64, RefusedPayload)>()
        var last: Int64 = 0
    }

    private let refusals = Mutex(Refusals())

    init() {}

    func append(_ refusal: RefusedPayload) {
        refusals.withLock { log in
            log.last += 1
            if refusal.source == nil {
                log.unidentified.append((log.last, refusal))
                if log.unidentified.count > Self.mostUnidentified { log.unidentified.removeFirst() }
            } else {
                log.identified.append((log.last, refusal))
                if log.identified.count > Self.most { log.identified.removeFirst() }
            }
        }
    }

    /// The newest first, at most 200.
    package var newest: [RefusedPayload] {
        let (identified, unidentified) = refusals.withLock { ($0.identified, $0.unidentified) }
        return (identified + unidentified).sorted { $0.0 > $1.0 }.prefix(Self.most).map(\.1)
    }
}
