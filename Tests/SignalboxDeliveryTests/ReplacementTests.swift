import SignalboxConfig
import SignalboxGateway
import SignalboxNotification
import SignalboxRouting
import SignalboxSQLite
import SignalboxStore
import SignalboxTesting
import Testing

/// Destinations that change while deliveries are made.
@Suite(.timeLimit(.minutes(15))) struct ReplacementTests {
    private let bench = LaneBench()

    private func taking() -> ScriptedSender { ScriptedSender { _, _ in .replied(status: 200, retryAfter: nil) } }

    /// A sender that answers when the test permits it.
    private func hanging() -> (ScriptedSender, release: AsyncStream<Void>.Continuation) {
        let (never, release) = AsyncStream.makeStream(of: Void.self)
        return (
            ScriptedSender { _, _ in
                for await _ in never {}
                return .replied(status: 200, retryAfter: nil)
            }, release
        )
    }

    @Test func attemptsInFlightKeepTheirSettings() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try bench.open(directory)
            let (old, release) = hanging()
            let new = taking()
            let dispatcher = bench.dispatcher(bench.destination(concurrency: 2), old, queue)
            async let running: Void = dispatcher.runUntilDrained()
            try await queue.append(bench.events(1...5))
            await old.begun(2)
            dispatcher.replace([(bench.destination(concurrency: 3), new)], deadLetters: nil) { _ in true }
            try await queue.append(bench.events(6...8))
            #expect(new.attempts == 0, "one lane at a time")
            release.finish()
            await new.waitFor(attempts: 6)
            dispatcher.drain()
            await running
            #expect(try await queue.counts() == [bench.crm: [.delivered: 8]])
            #expect(old.attempts == 2 && new.attempts == 6 && Set(old.events + new.events).count == 8)
        }
    }

    @Test func keepsTheLaneOfAnUnchangedDestination() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try bench.open(directory)
            let (old, new) = (taking(), taking())
            let dispatcher = bench.dispatcher(bench.destination(), old, queue)
            async let running: Void = dispatcher.runUntilDrained()
            dispatcher.replace([(bench.destination(), new)], deadLetters: nil) { _ in true }
            try await queue.append(bench.events(1...3))
            dispatcher.drain()
            await running
            #expect(old.attempts == 3 && new.attempts == 0)
        }
    }

    @Test func aNewSecretIsAChange() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try bench.open(directory)
            let (old, new) = (taking(), taking())
            let dispatcher = bench.dispatcher(bench.destination(), old, queue)
            async let running: Void = dispatcher.runUntilDrained()
            dispatcher.replace([(bench.destination(), new)], deadLetters: nil) { _ in false }
            try await queue.append(bench.events(1...3))
            await new.waitFor(attempts: 3)
            dispatcher.drain()
            await running
            #expect(old.attempts == 0)
        }
    }

    @Test func deliveriesOfARemovedDestinationWaitForItsReturn() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try bench.open(directory)
            let (old, release) = hanging()
            let dispatcher = bench.dispatcher(bench.destination(), old, queue)
            async let running: Void = dispatcher.runUntilDrained()
            try await queue.append(bench.events(1...4))
            await old.begun(1)
            dispatcher.replace([], deadLetters: nil) { _ in true }
            release.finish()
            try await queue.append(bench.events(5...6))
            let back = taking()
            dispatcher.replace([(bench.destination(), back)], deadLetters: nil) { _ in true }
            await back.waitFor(attempts: 5)
            dispatcher.drain()
            await running
            #expect(try await queue.counts() == [bench.crm: [.delivered: 6]])
            #expect(old.attempts == 1 && Set(old.events + back.events).count == 6)
            for record in try await queue.deliveries(DeliveryFilter(), limit: 10) { #expect(record.attempts == 1) }
        }
    }

    @Test func appliesTheLastOfManyChanges() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try bench.open(directory)
            let (old, release) = hanging()
            let senders = (0..<5).map { _ in taking() }
            let dispatcher = bench.dispatcher(bench.destination(), old, queue)
            async let running: Void = dispatcher.runUntilDrained()
            try await queue.append(bench.events(1...4))
            await old.begun(1)
            for sender in senders {
                dispatcher.replace([(bench.destination(concurrency: 2), sender)], deadLetters: nil) { _ in true }
            }
            release.finish()
            await senders[4].waitFor(attempts: 3)
            dispatcher.drain()
            await running
            #expect(senders.map(\.attempts) == [0, 0, 0, 0, 3])
        }
    }

    @Test func anOrderedSuccessorStartsWithoutMemory() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try bench.open(directory)
            let (old, release) = hanging()
            let dispatcher = bench.dispatcher(bench.destination(), old, queue)
            async let running: Void = dispatcher.runUntilDrained()
            try await queue.append(bench.events(1...20))
            await old.begun(1)
            var ordered = bench.destination(concurrency: 4)
            ordered.ordering = .init()
            let new = taking()
            dispatcher.replace([(ordered, new)], deadLetters: nil) { _ in true }
            release.finish()
            await new.waitFor(attempts: 19)
            dispatcher.drain()
            await running
            #expect(try await queue.counts() == [bench.crm: [.delivered: 20]])
            #expect(Set(old.events + new.events).count == 20)
        }
    }

    /// Appends, changes and answers happen in many orders.
    @Test func deliversOnceDuringManyChanges() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try bench.open(directory)
            let sender = taking()
            let dispatcher = bench.dispatcher(bench.destination(concurrency: 4), sender, queue)
            async let running: Void = dispatcher.runUntilDrained()
            for step in 0..<25 {
                dispatcher.replace(
                    step % 7 == 2 ? [] : [(bench.destination(concurrency: 3 + step % 3), sender)], deadLetters: nil
                ) { _ in step % 2 == 0 }
                try await queue.append(bench.events((step * 20 + 1)...(step * 20 + 20)))
            }
            await sender.waitFor(attempts: 500)
            dispatcher.drain()
            await running
            #expect(try await queue.counts() == [bench.crm: [.delivered: 500]])
            #expect(sender.attempts == 500 && Set(sender.events).count == 500)
        }
    }
}
