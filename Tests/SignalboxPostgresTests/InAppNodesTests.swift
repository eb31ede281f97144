import Foundation
import SignalboxInApp
import SignalboxNotification
import SignalboxPostgres
import SignalboxStore
import SignalboxStoreTesting
import SignalboxTesting
import Testing

/// Decisions of two nodes about the same users, devices and campaigns.
@Suite(.timeLimit(.minutes(5))) struct InAppNodesTests {
    private static let campaign = "spring"

    /// Two stores of one database, both alive.
    private static func withNodes(_ body: ([any Store], ManualDate) async throws -> Void) async throws {
        try await PostgresLocation.withLocation { location in
            let clock = ManualDate()
            try await body([location.openBeside(clock), location.openBeside(clock)], clock)
        }
    }

    /// Offers the campaign to a user on a device, unless the campaign or the user has reached a limit. Counts the offer
    /// in the user's ledger. Returns the id of the offer.
    private static func offer(
        _ number: Int, to device: DeviceID, of user: UserID, most: Int, perUser: Int, by store: any Store
    ) async throws -> OfferID? {
        try await store.decide(about: .device(device, user: user), tallies: [campaign]) { rows in
            let tally = rows.state.tallies[campaign] ?? Tally()
            let total = rows.state.user.ledger.totals[.scope]?.count ?? 0
            guard tally.committed + tally.reserved < most, total < perUser else { return InAppStep(nil) }
            var row = rows.state.device
            (row.user, row.session) = (user, row.session + 1)
            let id = "of_\(number)"
            let offer = Offer(
                id: id, device: device, user: user, message: campaign, revision: 1, vendor: "own", kind: .modal,
                state: .offered, triggeredAt: 1, due: 1, lapse: nil, flags: .tallied, namedLimits: [], session: 1)
            return InAppStep(
                id,
                changes: [
                    .user(user, lastNow: 1), .device(row), .offer(offer),
                    .total(.user(user), .scope, Ledger.Total(count: total + 1, last: 1)),
                    .tally(campaign, committed: 0, reserved: 1),
                ])
        }
    }

    /// Reports a display, once.
    private static func report(_ id: OfferID, to store: any Store) async throws {
        try await store.decide(about: .offer(id), tallies: []) { rows in
            guard var offer = rows.state.offers[id], offer.state == .offered else { return InAppStep(()) }
            offer.state = .shown
            return InAppStep((), changes: [.offer(offer), .tally(campaign, committed: 1, reserved: -1)])
        }
    }

    @Test func limitsHoldWhenTwoNodesDecideAtTheSameTime() async throws {
        let seed = UInt64.random(in: 0 ... .max)
        try await Self.withNodes { stores, _ in
            var random = SeededGenerator(seed: seed)
            let (most, perUser) = (Int.random(in: 20...40, using: &random), Int.random(in: 2...5, using: &random))
            let requests = (0..<400).map { number in
                (
                    number, device: "d\(Int.random(in: 0..<40, using: &random))",
                    user: "u\(Int.random(in: 0..<12, using: &random))",
                    first: Int.random(in: 0...1, using: &random)
                )
            }
            let made = try await withThrowingTaskGroup(of: (user: UserID, id: OfferID?).self) { group in
                for (number, device, user, first) in requests {
                    group.addTask {
                        let id = try await Self.offer(
                            number, to: device, of: user, most: most, perUser: perUser, by: stores[first])
                        // The other node, and twice: a repeated report counts once.
                        if let id, number.isMultiple(of: 2) {
                            for store in stores { try await Self.report(id, to: store) }
                        }
                        return (user, id)
                    }
                }
                return try await group.reduce(into: [(user: UserID, id: OfferID)]()) { all, next in
                    if let id = next.id { all.append((next.user, id)) }
                }
            }
            let users = Dictionary(grouping: made, by: \.user).mapValues(\.count)
            #expect(made.count <= most, "seed \(seed)")
            #expect(made.count == most || users.values.allSatisfy { $0 == perUser }, "seed \(seed): room was left")
            let state = try await stores[0].rows(of: .device("d0", user: "u0"), tallies: [Self.campaign]).state
            let shown = made.filter { Int($0.id.dropFirst(3))?.isMultiple(of: 2) ?? false }.count
            #expect(
                state.tallies[Self.campaign] == Tally(committed: shown, reserved: made.count - shown), "seed \(seed)")
            for (user, count) in users {
                #expect(count <= perUser, "seed \(seed), \(user)")
                let rows = try await stores[1].rows(of: .device("x", user: user), tallies: []).state
                #expect(rows.user.ledger.totals[.scope]?.count == count, "seed \(seed), \(user)")
            }
            #expect(try await stores[0].audit().isRight, "seed \(seed)")
        }
    }

    @Test func aDueDeviceIsAdvancedByOneNode() async throws {
        try await Self.withNodes { stores, clock in
            let now = Instant(clock.now.timeIntervalSince1970 * 1000)
            for number in 0..<20 {
                let device = "d\(number)"
                try await stores[0].decide(about: .device(device, user: "u"), tallies: []) { rows in
                    var offer = Offer(
                        id: "of_\(number)", device: device, user: "u", message: "m", revision: 1, vendor: "own",
                        kind: .modal, state: .triggered, triggeredAt: 1, due: now, lapse: nil, flags: [],
                        namedLimits: [], session: 1)
                    offer.order = 1
                    var row = rows.state.device
                    row.user = "u"
                    return InAppStep((), changes: [.device(row), .offer(offer)], nextDue: now)
                }
            }
            #expect(try await stores[0].dueDevices(at: now, upTo: 99).count == 20)
            #expect(try await stores[1].dueDevices(at: now, upTo: 99) == [], "they are the other node's for a second")
            #expect(try await stores[0].nextInAppDue() == now)
            #expect(try await stores[1].nextInAppDue() == now + 1000)
            #expect(
                try await stores[1].dueDevices(at: now + 1000, upTo: 99).count == 20,
                "the other node did not advance them")
            let advanced = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<20 {
                    for store in stores {
                        group.addTask {
                            try await store.decide(about: .due("d\(number)"), tallies: []) { rows in
                                guard var offer = rows.state.offers["of_\(number)"], offer.state == .triggered else {
                                    return InAppStep(false)
                                }
                                offer.state = .ready
                                return InAppStep(true, changes: [.device(rows.state.device), .offer(offer)])
                            }
                        }
                    }
                }
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(advanced == 20)
            #expect(try await stores[1].nextInAppDue() == nil)
        }
    }

    @Test func changesOfMessagesReachTheOtherNode() async throws {
        let seed = UInt64.random(in: 0 ... .max)
        try await Self.withNodes { stores, _ in
            let seen = stores.map { _ in MessageReports() }
            for (store, reports) in zip(stores, seen) { store.openInApp { reports.add($0) } }
            var random = SeededGenerator(seed: seed)
            let changes = (0..<120).map { number in
                (
                    number, id: "m\(Int.random(in: 0..<6, using: &random))",
                    isWithdrawal: Int.random(in: 0..<4, using: &random) == 0,
                    first: Int.random(in: 0...1, using: &random)
                )
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, id, isWithdrawal, first) in changes {
                    group.addTask {
                        if isWithdrawal {
                            _ = try await stores[first].withdraw(message: id)
                        } else {
                            let message = InAppRegistration(id: id, body: Array("{\"n\":\(number)}".utf8))
                            _ = try await stores[first].register(message)
                        }
                    }
                }
                for store in stores { group.addTask { for _ in 0..<20 { _ = try await store.tick() } } }
                try await group.waitForAll()
            }
            for store in stores { _ = try await store.tick() }
            let stored = try await stores[0].messages(after: nil, upTo: 99, includingWithdrawn: true)
            for reports in seen {
                #expect(reports.last.count == stored.count, "seed \(seed)")
                for message in stored { #expect(reports.last[message.registration.id] == message, "seed \(seed)") }
                #expect(reports.disorder == nil, "seed \(seed)")
            }
        }
    }

    @Test func aMessageOfAnEventReachesTheOtherNode() async throws {
        try await Self.withNodes { stores, clock in
            let reports = MessageReports()
            stores[1].openInApp { reports.add($0) }
            _ = try await stores[1].tick()
            let message = InAppRegistration(id: "m", body: Array("{}".utf8))
            _ = try await stores[0].register(message)
            #expect(reports.last.isEmpty, "reported before the tick")
            _ = try await stores[1].tick()
            #expect(reports.last["m"]?.revision == 1)
            _ = try await stores[1].tick()
            #expect(reports.count == 1, "reported twice")
            clock.advance(by: 1)
            _ = try await stores[0].withdraw(message: "m")
            _ = try await stores[1].tick()
            #expect(reports.last["m"]?.withdrawnAt != nil)
        }
    }
}
