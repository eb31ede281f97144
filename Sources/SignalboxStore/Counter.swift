import Synchronization

/// A number that any thread may change without waiting: a counter, or a gauge if it also decreases.
package final class Counter: Sendable {
    // A class because several owners share it: the code that counts, and the metrics.
    private let number = Atomic<Int>(0)

    /// Starts at 0.
    package init() {}

    /// Adds an amount, which is negative only for a gauge. One atomic operation, without an order to other memory.
    package func add(_ amount: Int = 1) { number.wrappingAdd(amount, ordering: .relaxed) }

    /// Adds an amount of at least 0. Stays at the greatest number instead of exceeding it.
    func addUpToMax(_ amount: Int) {
        var former = number.load(ordering: .relaxed)
        while true {
            let (sum, exceeds) = former.addingReportingOverflow(amount)
            let (done, current) = number.compareExchange(
                expected: former, desired: exceeds ? .max : sum, ordering: .relaxed)
            if done { return }
            former = current
        }
    }

    /// The number at this time.
    package var value: Int { number.load(ordering: .relaxed) }
}
