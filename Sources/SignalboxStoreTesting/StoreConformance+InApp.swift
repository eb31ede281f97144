import Foundation
import SignalboxInApp
import SignalboxNotification
import SignalboxStore
import SignalboxTesting
import Testing

extension StoreConformance {
    /// Decisions about in-app messages: ``InAppStore/decide(about:tallies:_:)`` reads the rows of a device and its
    /// user, and commits the changes and events of one step together.
    ///
    /// Decisions never overlap, so a limit over all devices holds under concurrency. A step whose commit fails leaves
    /// neither rows nor events nor messages. Every member of every row is stored and read back unchanged; random rows
    /// show it, and their seed repeats a failure.
    ///
    /// Ids of users, devices and messages are compared by their bytes, also within one commit.
    ///
    /// Devices with work that is due are found by its time, the earliest first. A step without changes leaves that
    /// time unchanged.
    static let inApp = [
        Self("concurrentDecisionsNeverOverlap") { bench in
            let queue = try bench.open()
            let shown = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<200 {
                    group.addTask { try await bench.offer("m", to: "d\(number)", limit: 1, in: queue) }
                }
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(shown == 1)
            let rows = try await bench.open().rows(of: .device("d0", user: "u"), tallies: ["m"])
            #expect(rows.state.tallies == ["m": Tally(reserved: 1)])
        },
        Self("keepsEveryMemberOfEveryRow", keepsEveryMember(seed: 20_261_122)),
        Self("keepsEveryMemberOfRandomRows", keepsEveryMember(seed: .random(in: 0 ... .max))),
        Self("aDecisionAppendsItsEvents") { bench in
            let queue = try bench.open()
            let result: Int? = try await queue.decide(about: .device("d", user: nil), tallies: []) { _ in
                InAppStep(nil, events: [bench.event(1), bench.event(2)])
            }
            #expect(result == nil, "the result is not unwrapped")
            #expect(try await bench.claimNumbers(queue) == [1, 2])
            #expect(try await queue.audit().isRight)
        },
        Self("aFailedDecisionLeavesNothing") { bench in
            let queue = try bench.open()
            let stored = bench.event(1)
            try await queue.append([stored])
            await #expect(throws: StoreError.self) {
                try await queue.decide(about: .device("d", user: "u"), tallies: []) { rows in
                    InAppStep(
                        (),
                        changes: [
                            .device(rows.state.device), .user("u", lastNow: 1), .tally("m", committed: 1, reserved: 1),
                        ],
                        nextDue: 1, events: [bench.event(2, message: bench.message("m")), stored])
                }
            }
            let rows = try await queue.rows(of: .device("d", user: "u"), tallies: ["m"])
            #expect(rows.state == InAppModel().state(of: "d", "u"))
            #expect(try await queue.nextInAppDue() == nil)
            #expect(try await queue.message("m") == nil)
            #expect(try await queue.eventCount() == 1)
        },
        Self("idsAreComparedByTheirBytes") { bench in
            let queue = try bench.open()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<40 {
                    let id = StoreBench.twins[number % 2]
                    group.addTask { try await bench.count(id, of: id, on: "d\(number)", in: queue) }
                }
                try await group.waitForAll()
            }
            for id in StoreBench.twins {
                let state = try await queue.rows(of: .device("x", user: id), tallies: [id]).state
                #expect(state.user.ledger.totals[.scope]?.count == 20)
                #expect(state.tallies == [id: Tally(committed: 20)])
            }
        },
        Self("readsTheRowsOfAnOffer") { bench in
            let queue = try bench.open()
            #expect(try await bench.offer("m", to: "d", limit: 1, in: queue))
            let rows = try await queue.rows(of: .offer("of_d"), tallies: [])
            #expect(rows.state.device.id == "d" && rows.state.user.id == "u" && !rows.isUnknownOffer)
            #expect(rows.state.offers.keys.sorted() == ["of_d"])
            #expect(rows.state.tallies == ["m": Tally(reserved: 1)], "those of the device's offers")
            #expect(try await queue.rows(of: .offer("of_e"), tallies: []).isUnknownOffer)
        },
        Self("aDecisionReadsABoundedNumberOfLeases") { bench in
            let queue = try bench.open()
            for number in 0..<Bounds.leasesElsewhere + 5 {
                #expect(try await bench.offer("m", to: "d\(number)", limit: 1000, in: queue))
            }
            let rows = try await queue.rows(of: .device("d0", user: "u"), tallies: [])
            #expect(rows.state.offers["of_d0"] != nil)
            #expect(rows.state.offers.count == 1 + Bounds.leasesElsewhere)
        },
        Self("aDueDeviceIsDecidedForItsLastUser") { bench in
            let queue = try bench.open()
            try await bench.put("d", user: "u", due: 5, in: queue)
            #expect(try await queue.rows(of: .due("d"), tallies: []).state.user.id == "u")
            #expect(try await queue.rows(of: .due("e"), tallies: []).state.user.id == AnonymousUser.id(on: "e"))
        },
        Self("listsDueDevicesEarliestFirst") { bench in
            let queue = try bench.open()
            #expect(try await queue.nextInAppDue() == nil)
            for (device, due) in [("a", 30), ("b", 10), ("c", 20)] {
                try await bench.put(device, user: "u", due: Instant(due), in: queue)
            }
            try await bench.put("never", user: "u", due: nil, in: queue)
            #expect(try await queue.dueDevices(at: 20, upTo: 9) == ["b", "c"])
            #expect(try await bench.open().dueDevices(at: 99, upTo: 2) == ["b", "c"])
            #expect(try await queue.nextInAppDue() == 10)
            try await bench.put("b", user: "u", due: nil, in: queue)
            #expect(try await queue.nextInAppDue() == 20)
            try await queue.decide(about: .due("c"), tallies: []) { _ in InAppStep(()) }
            #expect(try await queue.nextInAppDue() == 20, "a step without changes leaves it")
        },
    ]

    /// Applies random changes, some in each decision, to a store and to a model. Opens a store for each of 20
    /// decisions, so that every change passes through the disk. `seed`: part of the message of a failure.
    private static func keepsEveryMember(seed: UInt64) -> Check {
        { bench in
            var (samples, model) = (InAppSamples(seed: seed), InAppModel())
            // A store may drop totals of messages that it does not have.
            let messages = try bench.open()
            for id in InAppSamples.texts { _ = try await messages.register(bench.message(id)) }
            for _ in 0..<20 {
                var changes: [RowChange] = []
                for _ in 0..<25 {
                    let change = samples.change(after: model)
                    model.apply(change)
                    changes.append(change)
                }
                try await bench.open().decide(about: .device("phone", user: "ann"), tallies: []) { [changes] _ in
                    InAppStep((), changes: changes)
                }
            }
            let queue = try bench.open()
            for device in InAppSamples.devices {
                for user in InAppSamples.users {
                    let rows = try await queue.rows(
                        of: .device(device, user: user), tallies: InAppSamples.messages)
                    #expect(rows.state == model.state(of: device, user), "seed \(seed), \(device), \(user)")
                }
            }
            for offer in model.offers.values {
                let rows = try await queue.rows(of: .offer(offer.id), tallies: InAppSamples.messages)
                #expect(rows.state == model.state(of: offer.device, offer.user), "seed \(seed), \(offer.id)")
            }
        }
    }
}

extension StoreBench {
    /// Reserves one display of a message unless the reserved ones of all devices reach the limit. Returns whether it
    /// did. The user is `u`, the offer's id that of the device after `of_`. `limit`: displays of the message on all
    /// devices.
    func offer(_ message: MessageID, to device: DeviceID, limit: Int, in queue: any Store) async throws -> Bool {
        try await queue.decide(about: .device(device, user: "u"), tallies: [message]) { rows in
            let tally = rows.state.tallies[message] ?? Tally()
            guard tally.committed + tally.reserved < limit else { return InAppStep(false) }
            var row = rows.state.device
            row.user = "u"
            return InAppStep(
                true,
                changes: [
                    .user("u", lastNow: 1), .device(row), .offer(.leased("of_" + device, message, to: device)),
                    .tally(message, committed: 0, reserved: 1),
                ])
        }
    }

    /// Two texts that `String` equates: "é" as one scalar and as two. The first one is the second in byte order.
    static let twins = ["caf\u{e9}", "cafe\u{301}"]

    /// Counts a display of a message to a user.
    func count(_ message: MessageID, of user: UserID, on device: DeviceID, in queue: any Store) async throws {
        try await queue.decide(about: .device(device, user: user), tallies: [message]) { rows in
            let count = (rows.state.user.ledger.totals[.scope]?.count ?? 0) + 1
            return InAppStep(
                (),
                changes: [
                    .user(user, lastNow: 1), .total(.user(user), .scope, .init(count: count, last: 1)),
                    .tally(message, committed: 1, reserved: 0),
                ])
        }
    }

    /// Stores a device's row that was last seen now. `due`: when the device has work without a request; nil for none.
    func put(_ device: DeviceID, user: UserID, due: Instant?, in queue: any Store) async throws {
        let now = clock.instant
        try await queue.decide(about: .device(device, user: user), tallies: []) { rows in
            var row = rows.state.device
            (row.user, row.lastNow, row.lastSeen) = (user, now, now)
            return InAppStep((), changes: [.device(row)], nextDue: due)
        }
    }

    /// `body`: the message in JSON. `end`: after which the message is over; nil for never.
    func message(
        _ id: MessageID, body: String = "{}", to address: InAppRegistration.Address? = nil, end: Instant? = nil
    ) -> InAppRegistration {
        InAppRegistration(id: id, body: Array(body.utf8), address: address, end: end)
    }
}

extension Offer {
    /// An offer that a device has received and not answered yet.
    static func leased(_ id: OfferID, _ message: MessageID, to device: DeviceID) -> Offer {
        Offer(
            id: id, device: device, user: "u", message: message, revision: 1, vendor: "own", kind: .modal,
            state: .offered, triggeredAt: 1, due: 1, lapse: nil, flags: .tallied, namedLimits: [], session: 1)
    }
}

extension ManualDate {
    /// Milliseconds since 1970.
    var instant: Instant { Instant((now.timeIntervalSince1970 * 1000).rounded(.down)) }
}
