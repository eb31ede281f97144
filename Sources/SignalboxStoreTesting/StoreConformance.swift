package import SignalboxStore
package import SignalboxTesting
import Testing

/// What every durable queue must do: one check for each promise, over its verbs alone.
///
/// There is one queue, so that its type stands here; the second one brings the protocol that takes its place.
package struct StoreConformance: Sendable, CustomTestStringConvertible {
    package let testDescription: String
    private let check: Check

    typealias Check = @Sendable (StoreBench) async throws -> Void

    init(_ name: String, _ check: @escaping Check) {
        testDescription = name
        self.check = check
    }

    package static let all =
        appending + settling + attempts + schedules + orders + states + repeats + removal + categories + clock
        + downloads + settledMedia + held + released + mediaRemoval + mediaInspection

    /// Checks one implementation in a directory of its own.
    package func run(_ backdoor: StoreBackdoor) async throws {
        try await withTemporaryDirectory { try await check(StoreBench(directory: $0, backdoor: backdoor)) }
    }
}

/// How an implementation is opened, and what only somebody can do who knows its file.
package struct StoreBackdoor: Sendable {
    package typealias Open = @Sendable (_ directory: String, _ clock: ManualDate) throws(StoreError) -> SQLiteQueue

    let open: Open
    /// Deletes one delivery, telling nobody.
    let loseADelivery: @Sendable (SQLiteQueue) async throws -> Void
    /// How much room it takes on disk.
    let pages: @Sendable (SQLiteQueue) async throws -> Int

    package init(
        open: @escaping Open, loseADelivery: @escaping @Sendable (SQLiteQueue) async throws -> Void,
        pages: @escaping @Sendable (SQLiteQueue) async throws -> Int
    ) {
        self.open = open
        self.loseADelivery = loseADelivery
        self.pages = pages
    }
}
