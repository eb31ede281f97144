package import SignalboxStore
package import SignalboxTesting
import Testing

/// One promise that every store keeps, and its check over the store's verbs alone. Checks use the protocols only, so
/// every implementation of ``Store`` runs the same ones. None depends on real time: each has a ``ManualDate``.
package struct StoreConformance: Sendable, CustomTestStringConvertible {
    /// The promise in words: the name of the check.
    package let testDescription: String
    /// Throws, or records an issue, if the promise is broken.
    private let check: Check

    /// Receives a new, empty location for each run.
    typealias Check = @Sendable (StoreBench) async throws -> Void

    /// `name`: states a fact, like the name of a test.
    init(_ name: String, _ check: @escaping Check) {
        testDescription = name
        self.check = check
    }

    /// The promises of the stores of a location. Parameterised tests run each of them separately:
    /// `@Test(arguments: StoreConformance.all(in: SomeLocation.self))`.
    package static func all<Location: StoreLocation>(in location: Location.Type) -> [Self] {
        everywhere + (Location.followsJumps ? clock : []) + (Location.hasNodes ? nodes + nodesInOrder : [])
    }

    private static let everywhere =
        appending + settling + attempts + schedules + once + orders + states + repeats + removal + categories
        + downloads + settledMedia + held + released + mediaRemoval + mediaInspection + inApp
        + inAppMessages + inAppRemoval + channels + actions + events + payloads + manualDeliveries + pages + filters
        + gauges + bulk + pauses + beside + texts

    /// Checks the promise in a new, empty location. The location is removed afterwards, even after a failure.
    package func run<Location: StoreLocation>(in location: Location.Type) async throws {
        try await Location.withLocation { try await check(StoreBench(location: $0)) }
    }
}

/// The location of the stores under test: a directory, or a schema of a database server. Each implementation of
/// ``Store`` has one, and runs the suite in one line. The methods that are not of ``Store`` let checks act behind its
/// back.
package protocol StoreLocation: Sendable {
    /// Whether waits move along when the machine's clock is set. False for stores whose clock is a server's, which does
    /// not jump.
    static var followsJumps: Bool { get }

    /// Whether several processes deliver from one location at the same time.
    static var hasNodes: Bool { get }

    /// Makes an empty location and removes it after `body`. Rethrows the error of `body`.
    static func withLocation(_ body: (Self) async throws -> Void) async throws

    /// Opens a store as a new process does. Stores that were opened here before stay usable, like other processes.
    /// Their leases count as abandoned, as after a crash. Every call is another process to the store: it shares the
    /// disk with the others, and no memory.
    func open(_ clock: ManualDate) throws(StoreError) -> any Store

    /// Opens a store as another process does. The stores that are open keep their leases. Such a store
    /// opens no lane unless ``hasNodes`` is true.
    func openBeside(_ clock: ManualDate) throws(StoreError) -> any Store

    /// Deletes a delivery behind the store's back. `id`: the id of a stored delivery. The store must not notice before
    /// its next audit.
    func loseDelivery(_ id: Int64) async throws

    /// The size of the content on disk in bytes, with its free space. Falls when the store returns space to the file
    /// system.
    func size() async throws -> Int64
}
