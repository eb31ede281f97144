import Synchronization

/// The memory of decompressed bodies at the provider endpoints. A compressed body reserves the most that its content
/// may have before it is opened, so small requests with large contents cannot exhaust the memory of the process.
final class ContentMemory: Sendable {
    // A class because the endpoints of all configs share it.
    private let free: Atomic<Int>

    /// The memory holds `bytes` of all contents together.
    init(bytes: Int = 64 << 20) { free = Atomic(bytes) }

    /// The memory of one content, which is free again after the last reference.
    final class Reservation: Sendable {
        // A class because its deinit releases the memory, wherever the request ends.
        private let memory: ContentMemory
        private let bytes: Atomic<Int>

        fileprivate init(_ bytes: Int, of memory: ContentMemory) {
            self.memory = memory
            self.bytes = Atomic(bytes)
        }

        /// Releases what the content did not need. `count`: at most the reserved bytes.
        func shrink(to count: Int) {
            let before = bytes.exchange(count, ordering: .relaxed)
            memory.free.add(before - count, ordering: .relaxed)
        }

        deinit { memory.free.add(bytes.load(ordering: .relaxed), ordering: .relaxed) }
    }

    /// Nil when these bytes are not free.
    func reserve(_ count: Int) -> Reservation? {
        guard free.subtract(count, ordering: .relaxed).newValue >= 0 else {
            free.add(count, ordering: .relaxed)
            return nil
        }
        return Reservation(count, of: self)
    }
}
