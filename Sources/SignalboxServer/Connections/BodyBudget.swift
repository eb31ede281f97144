import SignalboxNotification
import Synchronization

/// The holder of a request body's memory.
struct BodyHolder: Hashable {
    /// Nil for requests without a source.
    let source: SourceName?
    /// The network of the connection. Behind a proxy, all clients share the proxy's.
    let peer: PeerAddress
}

/// Divides the memory for request bodies, so that no source and no peer can hold all of it.
///
/// A source may hold as much as remains free. A peer may hold twice as much, because a proxy forwards the requests of
/// all sources. So some memory always remains: one greedy source leaves half, two leave a third. Not safe for
/// concurrent use; ``BodyBudget`` locks it. All counts are in bytes.
struct BodyShares {
    /// For all bodies together.
    private let bytes: Int
    /// Bytes in memory now.
    private var held = PeakGauge()
    /// Sources that hold no byte have no entry, so the table does not grow with the number of sources seen.
    private var sources: [SourceName: Int] = [:]
    /// Bounded in the same way as ``sources``: an entry leaves with the last byte of its network.
    private var peers: [PeerAddress: Int] = [:]

    init(bytes: Int) { self.bytes = bytes }

    /// Bytes that no body holds.
    var left: Int { bytes - held.value }

    /// Returns false when the holder's share or the total is exhausted. `holder`: nil for a body that is held only
    /// during its commit. Constant time. Rejecting changes no count.
    mutating func reserve(_ count: Int, for holder: BodyHolder?) -> Bool {
        let rest = left - count
        guard rest >= 0 else { return false }
        if let holder {
            let ofPeer = (peers[holder.peer] ?? 0) + count
            guard ofPeer <= 2 * rest else { return false }
            if let source = holder.source {
                let ofSource = (sources[source] ?? 0) + count
                guard ofSource <= rest else { return false }
                sources[source] = ofSource
            }
            peers[holder.peer] = ofPeer
        }
        held.change(by: count)
        return true
    }

    /// `count` and `holder`: those of an earlier reservation.
    mutating func release(_ count: Int, of holder: BodyHolder?) {
        held.change(by: -count)
        guard let holder else { return }
        Self.reduce(&peers, holder.peer, by: count)
        if let source = holder.source { Self.reduce(&sources, source, by: count) }
    }

    /// True once after a flood of bodies has ended.
    mutating func hasFallen() -> Bool { held.hasFallen(from: 16 * 1024 * 1024) }

    /// Removes the entry when its last byte is released. Has no effect for a key without an entry.
    private static func reduce<Key: Hashable>(_ held: inout [Key: Int], _ key: Key, by count: Int) {
        guard let bytes = held[key] else { return }
        held[key] = bytes > count ? bytes - count : nil
    }
}

/// Bounds the memory of all request bodies together.
final class BodyBudget: Sendable {
    // A class because all connections share it.
    private let shares: Mutex<BodyShares>

    init(bytes: Int) { shares = Mutex(BodyShares(bytes: bytes)) }

    /// Returns false when these bytes are not available. The caller releases them.
    func reserve(_ count: Int, for holder: BodyHolder? = nil) -> Bool {
        shares.withLock { $0.reserve(count, for: holder) }
    }

    /// The same count and holder as in ``reserve(_:for:)``.
    func release(_ count: Int, of holder: BodyHolder? = nil) { shares.withLock { $0.release(count, of: holder) } }

    /// True once after a flood of bodies has ended.
    func hasFallen() -> Bool { shares.withLock { $0.hasFallen() } }
}

/// The memory of one request body, which grows as the body arrives and is released at the end of its scope.
/// Noncopyable, so its bytes are released once, even when the request fails.
struct BodyReservation: ~Copyable {
    /// Reserved so far, and released together at the end of the scope.
    private var bytes = 0
    private let budget: BodyBudget
    private let holder: BodyHolder

    /// Reserves no byte yet, so it cannot fail.
    init(in budget: BodyBudget, for holder: BodyHolder) { (self.budget, self.holder) = (budget, holder) }

    deinit { budget.release(bytes, of: holder) }

    /// Throws ``Problem/busy`` when these bytes are not available. Called for each piece of a body, before the piece
    /// is stored.
    mutating func grow(by count: Int) throws(Problem) {
        guard budget.reserve(count, for: holder) else { throw .busy }
        bytes += count
    }
}
