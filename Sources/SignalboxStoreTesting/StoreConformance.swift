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
        + downloads + settledMedia + held + released + mediaRemoval + mediaInspection

    /// Checks the promise in a place of its own.
    package func run<Place: StorePlace>(in place: Place.Type) async throws {
        try await Place.withPlace { try await check(StoreBench(place: $0)) }
    }
}

/// Where the stores under test keep their content: a directory, or a schema of a database server. Each implementation
/// of ``Store`` has one, and runs the suite in one line.
package protocol StorePlace: Sendable {
    /// Makes an empty place and removes it after `body`.
    static func withPlace(_ body: (Self) async throws -> Void) async throws

    /// Opens a store as a new process does. The stores that were opened here before stay usable, as other processes do;
    /// what they lease counts as abandoned, as after a crash.
    func open(_ clock: ManualDate) throws(StoreError) -> any Store

    /// Deletes a delivery behind the store's back.
    func loseDelivery(_ id: Int64) async throws

    /// The bytes that the content takes on disk, free space within it included.
    func size() async throws -> Int64
}
