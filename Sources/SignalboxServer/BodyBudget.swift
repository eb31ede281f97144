import Synchronization

/// Bounds what all requests together hold in memory: whoever wants to read a body takes its size first.
final class BodyBudget: Sendable {
    // A class because all connections draw on it.
    private let left: Mutex<Int>

    init(bytes: Int) { left = Mutex(bytes) }

    /// Runs `body` with so many bytes taken; throws ``Problem/busy`` at once when they are not there.
    func withBytes<R: Sendable>(_ count: Int, _ body: () async throws -> R) async throws -> R {
        let isThere = left.withLock { left in
            guard left >= count else { return false }
            left -= count
            return true
        }
        guard isThere else { throw Problem.busy }
        defer { left.withLock { $0 += count } }
        return try await body()
    }
}
