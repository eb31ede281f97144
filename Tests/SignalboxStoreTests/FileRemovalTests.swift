import Testing

@testable import SignalboxStore

/// The steps of a removal of files.
@Suite struct FileRemovalTests {
    /// PostgreSQL locks rows after it has ordered them, and returns their new values.
    @Test func aFileThatIsUsedMeanwhileComesLast() async throws {
        let times: [(id: Int64, usedAt: Int64)] = [(1, 1000), (2, 99_999), (3, 3000)]
        let files = times.map { FileRemoval.Candidate(id: $0.id, sha256: "\($0.id)", bytes: 1, usedAt: $0.usedAt) }
        var removed: [String] = []
        let count = try await FileRemoval.run(
            usedBefore: 5000, surplus: 0, pause: {}, gone: { removed += $0 }
        ) { (removal, start) throws(StoreError) in
            var removal = removal
            do {
                try removal.forget(files.sorted(), after: start) { _ in .removed }
            } catch { throw StoreError.unavailable(reason: "\(error)") }
            return removal
        }
        #expect(count == 2 && removed == ["1", "3"])
    }
}
