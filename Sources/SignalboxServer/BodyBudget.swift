import SignalboxNotification
import Synchronization

/// The holder of a request body's memory.
struct BodyHolder: Hashable {
    /// Nil for requests without a source.
    let source: SourceName?
    let peer: PeerAddress
}

/// Divides the memory for request bodies, so that no source and no peer can hold all of it.
///
/// A source may hold as much as remains free. A peer may hold twice as much, because a proxy forwards the requests of
/// all sources. So some memory always remains: one greedy source leaves half, two leave a third.
struct BodyShares {
    private let bytes: Int
    private var held = PeakGauge()
    private var sources: [SourceName: Int] = [:]
    private var peers: [PeerAddress: Int] = [:]

    init(bytes: Int) { self.bytes = bytes }

    var left: Int { bytes - held.value }

    /// Returns false when the holder's share or the total is exhausted. `holder`: nil for a body that is held only
    /// during its commit.
    mutating func take(_ count: Int, for holder: BodyHolder?) -> Bool {
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

    mutating func giveBack(_ count: Int, of holder: BodyHolder?) {
        held.change(by: -count)
        guard let holder else { return }
        Self.reduce(&peers, holder.peer, by: count)
        if let source = holder.source { Self.reduce(&sources, source, by: count) }
    }

    /// True once after a flood of bodies has ended.
    mutating func hasFallen() -> Bool { held.hasFallen(from: 16 * 1024 * 1024) }

    private static func reduce<Key: Hashable>(_ held: inout [Key: Int], _ key: Key, by count: Int) {
        guard let bytes = held[key] else { return }
        held[key] = bytes > count ? bytes - count : nil
    }
}

/// Bounds what the bodies of all requests together hold in memory.
final class BodyBudget: Sendable {
    // A class because all connections draw on it.
    private let shares: Mutex<BodyShares>

    init(bytes: Int) { shares = Mutex(BodyShares(bytes: bytes)) }

    /// Runs `body` with a purse of its own; what was taken comes back when it ends.
    func withPurse<R: Sendable>(
        for holder: BodyHolder, _ body: (borrowing Purse) async throws -> R
    ) async throws -> R {
        let purse = Purse(budget: self, holder: holder)
        defer { giveBack(purse.spent, of: holder) }
        return try await body(purse)
    }

    /// Takes so many bytes out; false when they are not there. Whoever took them gives them back.
    func take(_ count: Int, for holder: BodyHolder? = nil) -> Bool {
        shares.withLock { $0.take(count, for: holder) }
    }

    func giveBack(_ count: Int, of holder: BodyHolder? = nil) {
        shares.withLock { $0.giveBack(count, of: holder) }
    }

    /// True once after a flood of bodies has ended.
    func hasFallen() -> Bool { shares.withLock { $0.hasFallen() } }

    /// What one request takes out, as its body arrives.
    struct Purse: ~Copyable, Sendable {
        private let taken = Mutex(0)
        private let budget: BodyBudget
        private let holder: BodyHolder

        fileprivate init(budget: BodyBudget, holder: BodyHolder) {
            self.budget = budget
            self.holder = holder
        }

        fileprivate var spent: Int { taken.withLock { $0 } }

        /// Takes so many bytes; throws ``Problem/busy`` when they are not there.
        func take(_ count: Int) throws(Problem) {
            guard budget.take(count, for: holder) else { throw .busy }
            taken.withLock { $0 += count }
        }
    }
}
