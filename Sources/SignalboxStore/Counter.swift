import Synchronization

/// A number that any thread may change without waiting: a counter, or a gauge if it also decreases.
package final class Counter: Sendable {
    // A class because several owners share it: the code that counts, and the metrics.
    private let number = Atomic<Int>(0)

    /// Starts at 0.
    package init() {}

    /// Adds an amount, which is negative only for a gauge. One atomic operation, without an order to other memory.
    package func add(_ amount: Int = 1) { number.wrappingAdd(amount, ordering: .relaxed) }

    /// The number at this time.
    package var value: Int { number.load(ordering: .relaxed) }
}
