import SignalboxInApp
import SignalboxNotification
import SignalboxStore
import SignalboxTesting
import Synchronization
import Testing

extension StoreConformance {
    /// Registered messages: ``InAppStore/register(_:)`` stores a message with its address. The revision grows with
    /// each change of body or address; an equal registration changes nothing. A withdrawn message stays listed until
    /// it is registered again or removed.
    ///
    /// Events may bring messages. They are registered in the commit that stores the event, in their order, and not
    /// for a repeated event or request. An event does not register a withdrawn message again, unless upkeep may have
    /// withdrawn it: one for a user or a device, without an end. ``InAppStore/openInApp(onChange:)`` reports every
    /// change, in the order of the commits.
    ///
    /// A decision reads the messages that are addressed to its device or user, at most
    /// ``StoreLimits/addressedMessages`` and ``StoreLimits/addressedBytes`` of each, the newest ones.
    static let inAppMessages = [
        Self("aMessageIsStoredWithRevisions") { bench in
            let queue = try bench.open()
            let first = bench.message("m", body: "1", to: .device("d"), end: 9)
            let stored = StoredInAppMessage(first, revision: 1, registeredAt: bench.clock.instant, withdrawnAt: nil)
            #expect(try await queue.register(first) == stored)
            bench.clock.advance(by: 1)
            #expect(try await queue.register(first) == stored, "an equal one changes nothing")
            #expect(try await bench.open().message("m") == stored)
            let second = StoredInAppMessage(
                bench.message("m", body: "2"), revision: 2, registeredAt: bench.clock.instant, withdrawnAt: nil)
            #expect(try await queue.register(second.registration) == second)
            let third = try await queue.register(bench.message("m", body: "2", to: .user("u")))
            #expect(third.revision == 3, "another address is a change")
            #expect(try await queue.message("n") == nil)
        },
        Self("aWithdrawnMessageStaysUntilItIsRegisteredAgain") { bench in
            let queue = try bench.open()
            #expect(try await queue.withdraw(message: "m") == nil)
            let stored = try await queue.register(bench.message("m"))
            bench.clock.advance(by: 1)
            let withdrawn = StoredInAppMessage(
                stored.registration, revision: 1, registeredAt: stored.registeredAt, withdrawnAt: bench.clock.instant)
            #expect(try await queue.withdraw(message: "m") == withdrawn)
            bench.clock.advance(by: 1)
            #expect(try await queue.withdraw(message: "m") == withdrawn, "a repeat changes nothing")
            #expect(try await bench.open().message("m") == withdrawn)
            let again = try await queue.register(bench.message("m"))
            #expect(again.revision == 2 && again.withdrawnAt == nil)
        },
        Self("pagesOfMessagesAreInByteOrder") { bench in
            let queue = try bench.open()
            let ids = ["a", "B", "é", "b", "aa", "日"]
            for id in ids { _ = try await queue.register(bench.message(id)) }
            _ = try await queue.withdraw(message: "aa")
            func page(after id: MessageID?, _ count: Int, withdrawn: Bool) async throws -> [MessageID] {
                try await queue.messages(after: id, upTo: count, includingWithdrawn: withdrawn).map(\.registration.id)
            }
            #expect(try await page(after: nil, 9, withdrawn: true) == ["B", "a", "aa", "b", "é", "日"])
            #expect(try await page(after: nil, 2, withdrawn: false) == ["B", "a"])
            #expect(try await page(after: "a", 2, withdrawn: false) == ["b", "é"])
            #expect(try await page(after: "日", 2, withdrawn: true) == [])
        },
        Self("anEventRegistersItsMessage") { bench in
            let queue = try bench.open()
            let changes = ChangedMessages(queue)
            let follower = bench.event(2, message: bench.message("n"))
            try await queue.append([bench.event(1, followers: [follower], message: bench.message("m"))])
            #expect(changes.take() == ["m 1", "n 1"])
            try await queue.append([bench.event(3, message: bench.message("m"))])
            #expect(changes.take() == [], "an equal message changes nothing")
            let lease = try await bench.claimOne(queue)
            let successor = bench.event(4, message: bench.message("s"))
            try await queue.settle(Settlement(lease, .delivered(status: 200), successor: successor))
            try await queue.decide(about: .device("d", user: nil), tallies: []) { _ in
                InAppStep((), events: [bench.event(5, message: bench.message("t"))])
            }
            #expect(changes.take() == ["s 1", "t 1"])
            #expect(try await bench.open().message("n")?.revision == 1)
        },
        Self("anEventDoesNotRegisterAWithdrawnMessage") { bench in
            let queue = try bench.open()
            let changes = ChangedMessages(queue)
            try await queue.append([bench.event(1, message: bench.message("m"))])
            _ = try await queue.withdraw(message: "m")
            try await queue.append([bench.event(2, message: bench.message("m"))])
            try await queue.append([bench.event(3, message: bench.message("m", body: "2"))])
            #expect(changes.take() == ["m 1", "m 1 withdrawn"])
            bench.clock.advance(by: 86_400)
            try await queue.append([bench.event(4, message: bench.message("m"))])
            #expect(changes.take() == ["m 1 withdrawn"], "upkeep keeps it while the payloads go on")
            #expect(try await queue.message("m")?.withdrawnAt == bench.clock.instant)
            _ = try await queue.register(bench.message("m"))
            #expect(changes.take() == ["m 2"], "an operator registers it again")
        },
        Self("anEventRegistersTheMessageOfAUserWhoIsBack") { bench in
            let queue = try bench.open()
            _ = try await queue.register(bench.message("m", to: .user("u")))
            _ = try await queue.withdraw(message: "m")
            try await queue.append([bench.event(1, message: bench.message("m", to: .user("u")))])
            #expect(try await queue.message("m")?.withdrawnAt == nil, "upkeep withdraws such messages")
        },
        Self("anEventRegistersSeveralMessagesInTheirOrder") { bench in
            let queue = try bench.open()
            let changes = ChangedMessages(queue)
            let event = RoutedEvent(
                event: bench.event(1).event, routes: [], deliveries: [],
                messages: [bench.message("b"), bench.message("a")])
            try await queue.append([event.with(deliveries: [])])
            #expect(changes.take() == ["b 1", "a 1"])
        },
        Self("messagesOfOneAppendAreComparedByTheirBytes") { bench in
            let queue = try bench.open()
            let changes = ChangedMessages(queue)
            try await queue.append(StoreBench.twins.map { bench.event(1, message: bench.message($0)) })
            #expect(changes.take().count == 2)
            let stored = try await queue.messages(after: nil, upTo: 9, includingWithdrawn: true)
            #expect(stored.map { Array($0.registration.id.utf8) } == StoreBench.twins.reversed().map { Array($0.utf8) })
        },
        Self("aRepeatedEventRegistersNothing") { bench in
            let queue = try bench.open()
            let changes = ChangedMessages(queue)
            let first = bench.event(1, hasLastingID: true)
            try await queue.append([first])
            let event = RoutedEvent(
                event: first.event, routes: [], deliveries: [], hasLastingID: true,
                followers: [bench.event(2, message: bench.message("n"))], messages: [bench.message("m")])
            try await queue.append([event])
            try await queue.append([], of: bench.request("k", body: 1))
            try await queue.append([bench.event(3, message: bench.message("o"))], of: bench.request("k", body: 1))
            #expect(changes.take() == [])
            #expect(try await queue.messages(after: nil, upTo: 9, includingWithdrawn: true) == [])
        },
        Self("changesOfMessagesAreReportedInTheirOrder") { bench in
            let queue = try bench.open()
            let changes = ChangedMessages(queue)
            _ = try await queue.register(bench.message("m", body: "1"))
            _ = try await queue.register(bench.message("m", body: "2"))
            _ = try await queue.withdraw(message: "m")
            _ = try await queue.withdraw(message: "m")
            _ = try await queue.withdraw(message: "unknown")
            #expect(changes.take() == ["m 1", "m 2", "m 2 withdrawn"])
        },
        Self("aDecisionReadsTheMessagesOfItsDeviceAndUser") { bench in
            let queue = try bench.open()
            for (id, address) in [
                ("d", InAppRegistration.Address.device("d")), ("e", .device("e")), ("u", .user("u")), ("v", .user("v")),
                ("x", .device("u")), ("w", .user("u")),
            ] { _ = try await queue.register(bench.message(id, to: address)) }
            _ = try await queue.register(bench.message("all"))
            _ = try await queue.withdraw(message: "w")
            let rows = try await queue.rows(of: .device("d", user: "u"), tallies: [])
            #expect(rows.addressed.map(\.registration.id).sorted() == ["d", "u"])
            #expect(rows.addressed.allSatisfy { $0.registration.body == Array("{}".utf8) })
        },
        Self("aDecisionReadsTheNewestMessagesOfADevice") { bench in
            let queue = try bench.open()
            for number in 0..<StoreLimits.addressedMessages + 5 {
                bench.clock.advance(by: 1)
                _ = try await queue.register(bench.message("\(number)", to: .device("d")))
            }
            let numbers = try await queue.rows(of: .device("d", user: "u"), tallies: []).addressed
                .compactMap { Int($0.registration.id) }
            #expect(numbers.sorted() == Array(5..<StoreLimits.addressedMessages + 5))
        },
        Self("aDecisionReadsABoundedNumberOfBytes") { bench in
            let queue = try bench.open()
            let body = String(repeating: " ", count: StoreLimits.addressedBytes / 4 - 100)
            for number in 0..<6 {
                bench.clock.advance(by: 1)
                _ = try await queue.register(bench.message("\(number)", body: body, to: .user("u")))
            }
            let numbers = try await queue.rows(of: .device("d", user: "u"), tallies: []).addressed
                .compactMap { Int($0.registration.id) }
            #expect(numbers.sorted() == [2, 3, 4, 5], "the newest ones")
        },
    ]
}

/// Gathers the changes that a store reports. A class because the store and the check share it.
private final class ChangedMessages: Sendable {
    /// In the order of the store's reports.
    private let changes = Mutex<[String]>([])

    /// `queue`: reports to this value from now on, instead of an earlier observer.
    init(_ queue: any Store) {
        queue.openInApp { [weak self] messages in
            self?.changes.withLock { changes in
                changes += messages.map { message in
                    "\(message.registration.id) \(message.revision)" + (message.withdrawnAt == nil ? "" : " withdrawn")
                }
            }
        }
    }

    /// The changes since the last call, as an id and a revision.
    func take() -> [String] {
        changes.withLock { changes in
            defer { changes = [] }
            return changes
        }
    }
}
