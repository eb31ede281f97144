import Foundation
import SignalboxInApp
import SignalboxNotification
import SignalboxStore
import SignalboxStoreTesting
import SignalboxTesting
import Testing

@testable import SignalboxPostgres

/// Groups of decisions: the rows that they lock, read and write.
@Suite(.timeLimit(.minutes(5))) struct InAppGroupTests {
    @Test func additionsToATallyNeverFallBelowZero() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let stored = Int.random(in: 0..<5, using: &random)
            var (row, expected) = (InAppRowsInMemory.TallyRow(), stored)
            for _ in 0..<Int.random(in: 0..<8, using: &random) {
                let number = Int.random(in: -4...4, using: &random)
                row.add(committed: number, reserved: 0)
                expected = max(expected + number, 0)
            }
            #expect(max(stored + row.committed.sum, row.committed.least) == expected, "seed \(seed)")
        }
    }

    @Test func anAnonymousUserSharesTheLockOfItsDevice() {
        var keys = InAppKeys([InAppDecision(subject: .device("d", user: nil), tallies: ["m"]) { _ in InAppStep(()) }])
        #expect(keys.locksOfOwners(in: nil).count == 1)
        keys.users.insert("d")
        #expect(keys.locksOfOwners(in: nil).count == 2, "a user with the id of a device has a lock of its own")
        #expect(keys.locksOfTallies(in: nil) != keys.locksOfTallies(in: "other"), "schemas share the server's locks")
        keys.devices.formUnion(["a", "b", "c"])
        let locks = keys.locksOfOwners(in: nil)
        #expect(locks == locks.sorted() && locks.count == 5, "nodes take them in one order")
    }

    /// The offers were made while the campaign had room, and hold none of it.
    @Test func aLimitHoldsWhenOffersBecomeDueOnTwoNodes() async throws {
        try await PostgresLocation.withLocation { location in
            let clock = ManualDate()
            let stores = try [location.openBeside(clock), location.openBeside(clock)]
            for number in 0..<16 { try await stores[0].add(Self.pending("d\(number)"), of: "d\(number)") }
            let offered = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<16 {
                    group.addTask { try await Self.advance("d\(number)", by: stores[number % 2]) }
                }
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(offered == 1)
            let rows = try await stores[0].rows(of: .device("d0", user: "u"), tallies: ["m"])
            #expect(rows.state.tallies["m"] == Tally(reserved: 1))
        }
    }

    private static func pending(_ device: DeviceID) -> Offer {
        Offer(
            id: "of_\(device)", device: device, user: "u\(device)", message: "m", revision: 1, vendor: "own",
            kind: .modal, state: .triggered, triggeredAt: 1, due: 1, lapse: nil, flags: [], namedLimits: [], session: 1)
    }

    /// One display of the campaign to all users.
    private static func advance(_ device: DeviceID, by store: any Store) async throws -> Bool {
        try await store.decide(about: .due(device), tallies: []) { rows in
            guard var offer = rows.state.offers["of_\(device)"] else { return InAppStep(false) }
            let tally = rows.state.tallies["m"] ?? Tally()
            guard tally.committed + tally.reserved < 1 else { return InAppStep(false) }
            offer.state = .offered
            return InAppStep(true, changes: [.offer(offer), .tally("m", committed: 0, reserved: 1)])
        }
    }

    @Test func decisionsCountOnceWhenConnectionsAreCutInCommits() async throws {
        let seed = UInt64.random(in: 0 ... .max)
        try await PostgresLocation.withLocation { location in
            _ = try location.openBeside(ManualDate())
            var url = try #require(URLComponents(string: location.target.url))
            let proxy = try CuttingProxy(to: try #require(url.port))
            url.port = proxy.port
            let target = PostgresTarget(url: try #require(url.string), schema: location.target.schema)
            let store = try PostgresStore(target)
            try await store.decide(about: .device("first", user: nil), tallies: []) { _ in InAppStep(()) }
            proxy.cutOne(in: 4, seed: seed)
            // Decisions share commits, so one round may have few.
            var rounds = 0
            repeat {
                rounds += 1
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<8 { group.addTask { try await Self.count(20, of: "u\(number)", in: store) } }
                    try await group.waitForAll()
                }
            } while proxy.cuts < 4
            proxy.cutOne(in: nil)
            let direct = try location.openBeside(ManualDate())
            for number in 0..<8 {
                let rows = try await direct.rows(of: .device("d", user: "u\(number)"), tallies: ["m"]).state
                #expect(rows.user.ledger.totals[.scope]?.count == 20 * rounds, "seed \(seed)")
                #expect(rows.tallies["m"] == Tally(committed: 160 * rounds), "seed \(seed)")
            }
        }
    }

    /// Counts displays to a user, one after another. Repeats those that the store says were not counted.
    private static func count(_ displays: Int, of user: UserID, in store: any Store) async throws {
        for _ in 0..<displays {
            var isCounted = false
            while !isCounted {
                do throws(StoreError) {
                    try await store.decide(about: .device("d\(user)", user: user), tallies: ["m"]) { rows in
                        let count = (rows.state.user.ledger.totals[.scope]?.count ?? 0) + 1
                        return InAppStep(
                            (),
                            changes: [
                                .user(user, lastNow: 1), .total(.user(user), .scope, .init(count: count, last: 1)),
                                .tally("m", committed: 1, reserved: 0),
                            ])
                    }
                    isCounted = true
                } catch {
                    switch error {
                    case .unavailable, .unreachable: break
                    default: throw error
                    }
                }
            }
        }
    }

    @Test func aDamagedRowFailsItsOwnDecisionsOnly() async throws {
        try await PostgresLocation.withLocation { location in
            let store = try location.openBeside(ManualDate())
            for device in ["a", "b"] { try await store.add(Self.pending(device), of: device) }
            try PostgresAdmin(location.target).run("UPDATE inapp_devices SET state = '\\x0707' WHERE id = 'a'")
            let results = await withTaskGroup(of: (DeviceID, Bool).self) { group in
                for device in ["a", "b", "c"] {
                    group.addTask {
                        do {
                            try await store.decide(about: .device(device, user: nil), tallies: []) { _ in InAppStep(())
                            }
                            return (device, true)
                        } catch { return (device, false) }
                    }
                }
                return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
            #expect(results == ["a": false, "b": true, "c": true])
            let findings = try await store.audit().damage
            #expect(findings.contains { $0.contains("inapp_devices cannot be read") }, "\(findings)")
        }
    }

    @Test func aStepThatAsksForOtherRowsInEachRunFailsAlone() async throws {
        try await PostgresLocation.withLocation { location in
            let store = try location.openBeside(ManualDate())
            let numbers = Numbers()
            await #expect(throws: StoreError.self) {
                try await store.decide(about: .device("d", user: nil), tallies: []) { _ in
                    InAppStep((), changes: [.user("u\(numbers.next())", lastNow: 1)])
                }
            }
            try await store.decide(about: .device("d", user: nil), tallies: []) { _ in InAppStep(()) }
            #expect(try await store.rows(of: .device("d", user: "u1"), tallies: []).state.user.lastNow == 0)
        }
    }
}

extension Store {
    /// Stores a device with an offer.
    fileprivate func add(_ offer: Offer, of device: DeviceID) async throws {
        try await decide(about: .device(device, user: offer.user), tallies: []) { rows in
            var row = rows.state.device
            row.user = offer.user
            return InAppStep((), changes: [.device(row), .offer(offer)], nextDue: 1)
        }
    }
}

/// Counts up. A class because steps share it.
private final class Numbers: Sendable {
    private let count = Counter()

    func next() -> Int {
        count.add()
        return count.value
    }
}
