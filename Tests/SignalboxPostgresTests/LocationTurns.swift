/// Lets a few checks use the server at the same time: each opens several stores, with some ten connections each.
actor LocationTurns {
    static let shared = LocationTurns(count: 16)

    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(count: Int) { free = count }

    /// Runs `body` when it is its turn.
    nonisolated func run(_ body: () async throws -> Void) async throws {
        await begin()
        let result: Result<Void, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        await end()
        try result.get()
    }

    private func begin() async {
        guard free == 0 else { return free -= 1 }
        await withCheckedContinuation { waiting.append($0) }
    }

    private func end() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}
