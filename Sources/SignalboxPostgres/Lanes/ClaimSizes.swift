import SignalboxNotification
import SignalboxStore
import Synchronization

/// The most deliveries of one claim, by destination, so that their events fit into memory and the claim ends in time.
/// Learned from the claims before: the size of an event is in a row that the claim reads last. A class because claims
/// share it.
final class ClaimSizes: Sendable {
    /// Bytes of the events and payloads of one claim, if these are as large as those before.
    static let budget = StoreLimits.bytesOfClaim
    /// Bytes of an event before the first claim.
    static let unknown = 1 << 16
    /// At least so many bytes are assumed after a claim that failed, perhaps because it was too large.
    static let suspected = 1 << 20

    private let sizes = Mutex<[DestinationName: Int]>([:])

    /// At least 1.
    func limit(of destination: DestinationName, atMost limit: Int) -> Int {
        let size = sizes.withLock { $0[destination] } ?? Self.unknown
        return min(limit, max(1, Self.budget / size))
    }

    /// Follows larger events at once, and smaller ones by halves.
    func record(_ destination: DestinationName, _ leases: [Lease]) {
        guard !leases.isEmpty else { return }
        let mean = leases.reduce(0) { $0 + $1.body.count + ($1.payload?.count ?? 0) } / leases.count
        sizes.withLock { sizes in sizes[destination] = max(mean, (sizes[destination] ?? 0) / 2, 1) }
    }

    /// Makes the next claims small. Called after a claim that failed.
    func fail(_ destination: DestinationName) {
        sizes.withLock { $0[destination] = max($0[destination] ?? 0, Self.suspected) }
    }
}
