import Synchronization

/// The memory of decompressed bodies at the provider endpoints, and of the pushes of requests to several devices. A
/// compressed body reserves the most that its content may have before it is opened, so small requests that become much
/// cannot exhaust the memory of the process. The shares of sources and peers are those of ``BodyShares``.
final class ContentMemory: Sendable {
    // A class because the endpoints of all configs share it.
    private let budget: BodyBudget

    /// The memory holds `bytes` of all contents together.
    init(bytes: Int = 64 << 20) { budget = BodyBudget(bytes: bytes) }

    /// The memory of one content, which is free again after the last reference.
    final class Reservation: Sendable {
        // A class because its deinit releases the memory, wherever the request ends.
        private let budget: BodyBudget
        private let holder: BodyHolder?
        private let bytes: Atomic<Int>

        fileprivate init(_ bytes: Int, of holder: BodyHolder?, in budget: BodyBudget) {
            (self.budget, self.holder) = (budget, holder)
            self.bytes = Atomic(bytes)
        }

        /// Releases what the content did not need. `count`: at most the reserved bytes.
        func shrink(to count: Int) {
            let before = bytes.exchange(count, ordering: .relaxed)
            budget.release(before - count, of: holder)
        }

        deinit { budget.release(bytes.load(ordering: .relaxed), of: holder) }
    }

    /// The memory of one push of several, until it is answered: its copy of the payload, of `payload` bytes, and its
    /// event, which contains the payload and the fields of the gateway.
    static func bytes(ofPush payload: Int) -> Int { 2 * (payload + 512) }

    /// Nil when these bytes are not free, or exceed the share of the holder. 0 bytes are always free. `holder`: nil for
    /// no share.
    func reserve(_ count: Int, for holder: BodyHolder? = nil) -> Reservation? {
        guard count == 0 || budget.reserve(count, for: holder) else { return nil }
        return Reservation(count, of: holder, in: budget)
    }
}
