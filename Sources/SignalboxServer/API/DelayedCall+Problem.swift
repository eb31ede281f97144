import SignalboxStore

extension DelayedCall {
    /// Waits for the store, at most as long as requests of senders do. Throws 503 for a failure of the store, and after
    /// `limit`; the abandoned read or write then continues. Commits are not withdrawn by the deadline, so a 503 does
    /// not mean that a change was not made.
    func reply<T: Sendable>(
        within limit: Duration = StoreLimits.patience, _ work: @escaping @Sendable () async throws(StoreError) -> T
    ) async throws(Problem) -> T {
        do throws(StoreError) { return try await answer(of: work, within: limit) } catch { throw .store(error) }
    }
}
