extension Result where Failure == any Error {
    /// Waits for a call, and keeps its value or its error for later: work may have to follow in both cases.
    package init(awaiting body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
