package import SignalboxStore
package import SignalboxTesting
import Testing

/// One promise that every store keeps, and its check over the store's verbs alone.
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
        + downloads + settledMedia + held + released + mediaRemoval + mediaInspection + inApp
        + inAppMessages + inAppRemoval + channels

    /// Checks the promise in a new, empty location.
    package func run<Location: StoreLocation>(in location: Location.Type) async throws {
        try await Location.withLocation { try await check(StoreBench(location: $0)) }
    }
}

/// The location of the stores under test: a directory, or a schema of a database server. Each implementation of
/// ``Store`` has one, and runs the suite in one line.
package protocol StoreLocation: Sendable {
    /// Makes an empty location and removes it after `body`.
    static func withLocation(_ body: (Self) async throws -> Void) async throws

    /// Opens a store as a new process does. Stores that were opened here before stay usable, like other processes.
    /// Their leases count as abandoned, as after a crash.
    func open(_ clock: ManualDate) throws(StoreError) -> any Store

    /// Deletes a delivery behind the store's back.
    func loseDelivery(_ id: Int64) async throws

    /// The size of the content on disk in bytes, with its free space.
    func size() async throws -> Int64
}
