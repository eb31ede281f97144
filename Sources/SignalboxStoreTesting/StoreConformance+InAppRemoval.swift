import SignalboxInApp
import SignalboxNotification
import SignalboxStore
import SignalboxTesting
import Testing

extension StoreConformance {
    /// In seconds.
    private static let day = 86_400.0

    /// Ten days of history. `totals`: those that outlive it, because a limit counts them without an end.
    private static func retention(totals: Set<Ledger.Key> = []) -> Retention {
        Retention(
            ended: .seconds(7 * day), dead: .seconds(30 * day), bytes: .max,
            inApp: InAppRetention(history: .seconds(10 * day), lifetimeTotals: totals))
    }

    /// Upkeep of in-app rows: ``UpkeepStore/remove(beyond:pause:)`` removes messages that were withdrawn or have
    /// ended, and the history of users and devices that were not seen for longer than the history lasts.
    ///
    /// Removed messages are reported as withdrawn, and their totals are removed with them. Totals that a lifetime
    /// limit counts outlive the displays, and keep their user. A device with work that is due is kept. The audit
    /// finds no inconsistency after any of these removals.
    static let inAppRemoval = [
        Self("messagesAreRemovedAfterTheHistory") { bench in
            let queue = try bench.open()
            let end = bench.clock.instant + 5 * 86_400_000
            for (id, end) in [("ends", end), ("withdrawn", nil), ("stays", nil)] {
                _ = try await queue.register(bench.message(id, end: end))
            }
            _ = try await queue.withdraw(message: "withdrawn")
            func left(after days: Double) async throws -> [MessageID] {
                bench.clock.advance(by: days * day)
                _ = try await queue.remove(beyond: retention())
                return try await queue.messages(after: nil, upTo: 9, includingWithdrawn: true).map(\.registration.id)
            }
            #expect(try await left(after: 10) == ["ends", "stays", "withdrawn"])
            #expect(try await left(after: 0.1) == ["ends", "stays"])
            #expect(try await left(after: 5) == ["stays"])
            #expect(try await left(after: 1000) == ["stays"])
        },
        Self("anAddressedMessageWithoutAnEndIsRemoved") { bench in
            let queue = try bench.open()
            let addresses: [(MessageID, InAppRegistration.Address)] = [
                ("for-active", .device("active")), ("for-gone", .device("gone")), ("for-nobody", .user("nobody")),
            ]
            for (id, address) in addresses { _ = try await queue.register(bench.message(id, to: address)) }
            try await bench.put("gone", user: "u", due: nil, in: queue)
            func left(after days: Double) async throws -> [MessageID] {
                bench.clock.advance(by: days * day)
                try await bench.put("active", user: "v", due: nil, in: queue)
                _ = try await queue.remove(beyond: retention())
                return try await queue.messages(after: nil, upTo: 9, includingWithdrawn: false).map(\.registration.id)
            }
            #expect(try await left(after: 9) == ["for-active", "for-gone", "for-nobody"])
            #expect(try await left(after: 2) == ["for-active"])
            #expect(try await queue.message("for-gone")?.withdrawnAt != nil)
            #expect(try await left(after: 11) == ["for-active"])
            #expect(try await queue.message("for-gone") == nil)
            #expect(try await queue.message("for-nobody") == nil)
        },
        Self("aRemovedMessageIsReportedAsWithdrawn") { bench in
            let queue = try bench.open()
            _ = try await queue.register(bench.message("m", body: "1"))
            _ = try await queue.register(bench.message("m", body: "2", end: bench.clock.instant))
            bench.clock.advance(by: 11 * day)
            try await confirmation { reported in
                queue.openInApp { messages in
                    #expect(messages.map(\.registration.id) == ["m"])
                    #expect(messages.allSatisfy { $0.withdrawnAt != nil })
                    reported()
                }
                _ = try await queue.remove(beyond: retention())
                queue.openInApp { _ in }
            }
            #expect(try await queue.register(bench.message("m")).revision == 1)
        },
        Self("displaysAreRemovedAfterTheHistory") { bench in
            let queue = try bench.open()
            _ = try await queue.register(bench.message("m"))
            try await bench.show("m", to: "d", in: queue)
            bench.clock.advance(by: 9 * day)
            _ = try await queue.remove(beyond: retention())
            #expect(try await bench.displays(queue) == [1, 1])
            bench.clock.advance(by: 2 * day)
            _ = try await queue.remove(beyond: retention())
            #expect(try await bench.displays(queue) == [0, 0])
            #expect(try await queue.rows(of: .offer("of_d"), tallies: []).isUnknownOffer)
            let rows = try await queue.rows(of: .device("d", user: "u"), tallies: ["m"]).state
            #expect(rows.user.ledger.totals.keys.sorted == [.message("m")], "a lifetime limit of the message counts it")
            #expect(rows.device.ledger.totals.keys.sorted == [.message("m")])
            #expect(rows.tallies["m"] == Tally(committed: 1))
            #expect(try await queue.audit().isRight)
        },
        Self("totalsOfLifetimeLimitsAreKept") { bench in
            let queue = try bench.open()
            try await bench.show("m", to: "d", in: queue)
            bench.clock.advance(by: 11 * day)
            _ = try await queue.remove(beyond: retention(totals: [.scope, .vendor("braze")]))
            let rows = try await queue.rows(of: .device("d", user: "u"), tallies: []).state
            #expect(rows.user.ledger.totals.keys.sorted == [.scope])
            #expect(rows.user.lastNow > 0, "the owner of a total stays")
            #expect(try await queue.audit().isRight)
            _ = try await queue.remove(beyond: retention())
            #expect(try await queue.audit().isRight)
        },
        Self("totalsOfAMessageAreRemovedWithIt") { bench in
            let queue = try bench.open()
            _ = try await queue.register(bench.message("m"))
            for number in 0..<600 { try await bench.show("m", to: "d\(number)", as: "u\(number)", in: queue) }
            bench.clock.advance(by: 11 * day)
            _ = try await queue.remove(beyond: retention())
            #expect(try await queue.rows(of: .device("d7", user: "u7"), tallies: []).state.user.lastNow > 0)
            _ = try await queue.withdraw(message: "m")
            bench.clock.advance(by: 11 * day)
            _ = try await queue.remove(beyond: retention())
            for number in [0, 7, 599] {
                let rows = try await queue.rows(of: .device("d\(number)", user: "u\(number)"), tallies: ["m"])
                #expect(rows.state == InAppModel().state(of: "d\(number)", "u\(number)"), "no row is left")
            }
            #expect(try await queue.audit().isRight)
        },
        Self("aDeviceThatIsDueIsKept") { bench in
            let queue = try bench.open()
            try await bench.put("due", user: "u", due: 1, in: queue)
            try await bench.put("done", user: "u", due: nil, in: queue)
            bench.clock.advance(by: 11 * day)
            _ = try await queue.remove(beyond: retention())
            #expect(try await queue.rows(of: .due("due"), tallies: []).state.device.user == "u")
            #expect(try await queue.rows(of: .due("done"), tallies: []).state.device.user == nil)
            try await bench.put("due", user: "u", due: nil, in: queue)
            _ = try await queue.remove(beyond: retention())
            #expect(try await queue.rows(of: .due("due"), tallies: []).state.device.user == "u", "seen again")
        },
    ]
}

extension StoreBench {
    /// Stores an offer that was shown and is done, with its displays, totals and tally, as decisions leave them.
    /// `message`: need not be registered. `user`: sees the message on this device.
    fileprivate func show(
        _ message: MessageID, to device: DeviceID, as user: UserID = "u", in queue: any Store
    ) async throws {
        let now = clock.instant
        try await queue.decide(about: .device(device, user: user), tallies: []) { rows in
            var row = rows.state.device
            (row.user, row.lastNow, row.lastSeen) = (user, now, now)
            var offer = Offer.leased("of_" + device, message, to: device)
            (offer.user, offer.state, offer.shownAt, offer.endedAt) = (user, .done, now, now)
            let display = Ledger.Display(
                offer: offer.id, at: now, message: message, vendor: "own", device: device, session: 1)
            var changes: [RowChange] = [
                .user(user, lastNow: now), .device(row), .offer(offer), .tally(message, committed: 1, reserved: 0),
            ]
            for subject in [RowChange.Subject.user(user), .device(device)] {
                changes.append(.display(subject, display))
                for key in [Ledger.Key.message(message), .vendor("own"), .scope] {
                    changes.append(.total(subject, key, Ledger.Total(count: 1, last: now)))
                }
            }
            return InAppStep((), changes: changes)
        }
    }

    /// The number of displays of the user `u` and of the device `d`. In this order.
    fileprivate func displays(_ queue: any Store) async throws -> [Int] {
        let state = try await queue.rows(of: .device("d", user: "u"), tallies: []).state
        return [state.user.ledger.displays.count, state.device.ledger.displays.count]
    }
}

extension Collection<Ledger.Key> {
    /// By their description, for comparisons.
    fileprivate var sorted: [Ledger.Key] { sorted { "\($0)" < "\($1)" } }
}
