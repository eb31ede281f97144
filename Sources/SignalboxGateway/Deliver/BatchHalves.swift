import SignalboxStore
import Synchronization

/// The halves of batches that were too large for the destination, until the lane takes them. A class because attempts
/// add to it, and the lane takes from it.
final class BatchHalves: Sendable {
    private let waiting = Mutex<[[Lease]]>([])

    /// `batch`: at least two deliveries. Call it before the place of the attempt is free, and wake the lane afterwards.
    func add(halvesOf batch: [Lease]) {
        let middle = batch.count / 2
        waiting.withLock { $0 += [Array(batch[..<middle]), Array(batch[middle...])] }
    }

    /// Removes and returns all halves, in the order in which they were added.
    func takeAll() -> [[Lease]] { waiting.withLock { exchange(&$0, with: []) } }

    /// True if no half waits here.
    var isEmpty: Bool { waiting.withLock(\.isEmpty) }
}
