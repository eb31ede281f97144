import Synchronization

/// Bounds what the bodies of all requests together hold in memory.
final class BodyBudget: Sendable {
    // A class because all connections draw on it.
    private let left: Mutex<Int>

    init(bytes: Int) { left = Mutex(bytes) }

    /// Runs `body` with a purse of its own; what was taken comes back when it ends.
    func withPurse<R: Sendable>(_ body: (borrowing Purse) async throws -> R) async throws -> R {
        let purse = Purse(budget: self)
        defer { giveBack(purse.spent) }
        return try await body(purse)
    }

    /// Takes so many bytes out; false when they are not there. Whoever took them gives them back.
    func take(_ count: Int) -> Bool {
        left.withLock { left in
            guard left >= count else { return false }
            left -= count
            return true
        }
    }

    func giveBack(_ count: Int) { left.withLock { $0 += count } }

    /// What one request takes out, as its body arrives.
    struct Purse: ~Copyable, Sendable {
        private let taken = Mutex(0)
        private let budget: BodyBudget

        fileprivate init(budget: BodyBudget) { self.budget = budget }

        fileprivate var spent: Int { taken.withLock { $0 } }

        /// Takes so many bytes; throws ``Problem/busy`` when they are not there.
        func take(_ count: Int) throws(Problem) {
            guard budget.take(count) else { throw .busy }
            taken.withLock { $0 += count }
        }
    }
}
