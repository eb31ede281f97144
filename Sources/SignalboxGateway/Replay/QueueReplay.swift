import SignalboxNotification
import SignalboxStore
import Synchronization

/// A replay through the durable queue of a data directory, to the destinations. The process owns the data directory
/// meanwhile, and the destinations receive the events from it.
package struct QueueReplay {
    private let options: ReplayOptions
    private let gateway: Gateway
    private let session: ReplaySession
    private let recording: Recording
    /// Deliveries that the run appended; repeats of an earlier run are not among them.
    private let appended = AppendedDeliveries()
    /// The failure rules of the config; nil if the run applies none.
    private let failures: RecordedFailures?

    /// `gateway`: holds the data directory. `session`: created after `gateway`, so that no file of a run is touched
    /// while another process uses the directory. Throws ``ReplayError/refused(_:)`` for an invalid selection.
    /// `options`: without an address; the mode is decided by the command.
    package init(_ options: ReplayOptions, through gateway: Gateway, in session: ReplaySession) throws {
        (self.options, self.gateway, self.session) = (options, gateway, session)
        var failures = options.appliesFailures ? RecordedFailures(gateway.plan.failures) : nil
        failures?.counts = session.failureCounts
        self.failures = failures
        recording = try Recording(
            options, by: gateway.plan.normalizer, gateway.plan.config, gateway.plan.routes, in: session,
            failures: failures, hasLastingIDs: true)
    }

    /// Runs until every delivery has been attempted. Returns true if a payload was rejected or a delivery failed. After
    /// ^C or an error, attempts in flight have five seconds to end, and other deliveries stay in the queue for the next
    /// start. Progress is saved in any case. Throws ``ReplayError`` for inputs and files, and ``StoreError`` for the
    /// queue; events that were appended before stay there.
    package func run() async throws -> Bool {
        defer { gateway.stopSending() }
        let before = try await counts()
        try await gateway.openDownloads()
        let (dispatcher, downloads) = (gateway.dispatcher, gateway.downloads)
        session.interruption.whenItHappens {
            downloads.stop()
            dispatcher.drain(within: .seconds(5))
        }
        async let delivering: Void = dispatcher.runUntilDrained()
        async let downloading: Void = downloads.runUntilDrained()
        let reading = await Result(awaiting: { try await session.untilEnd { try await read() } })
        // After a failure, only attempts in flight are awaited; other deliveries stay in the queue.
        if case .failure = reading { downloads.stop() } else { downloads.drain() }
        await downloading
        switch reading {
        case .failure: dispatcher.drain(within: .seconds(5))
        case .success:
            await waitForTakeover()
            if !session.interruption.happened { dispatcher.drain() }
        }
        await delivering
        await gateway.checkpoint()
        try session.end(isComplete: (try? reading.get()) ?? false)
        let outcomes = try await outcomes(since: before)
        var text = outcomes.text(json: options.printsJSON)
        if var failures {
            failures.counts = session.failureCounts
            text = failures.report(json: options.printsJSON) + text
        }
        session.report(text)
        _ = try reading.get()
        return session.rejected > 0 || outcomes.failed > 0
    }

    /// How deliveries ended. Other gateways may use the queue too: then only the ends that this process recorded count.
    private func outcomes(since before: DeliveryOutcomes.Counts) async throws(StoreError) -> DeliveryOutcomes {
        let after = try await counts()
        guard gateway.queue.sharesLimits else {
            return DeliveryOutcomes(before: before, after: after)
        }
        return DeliveryOutcomes(
            own: gateway.queue.health.ends.values, appended: appended.counts, scheduled: appended.scheduled,
            continues: session.continues, after: after)
    }

    /// Waits until every other process that holds deliveries has shown that it lives, or was declared gone: a process
    /// of this run may have been killed. Usually two seconds, the time between two heartbeats; at most three quarters
    /// of a minute. An error ends the wait, because the gateways of the queue send what is left.
    private func waitForTakeover() async {
        guard gateway.queue.sharesLimits else { return }
        let (start, end) = (gateway.queue.now, ContinuousClock.now + .seconds(45))
        var hasWaited = false
        do {
            while try await gateway.queue.mayBeAbandoned(since: start), !session.interruption.happened,
                ContinuousClock.now < end
            {
                hasWaited = true
                // A look is one indexed read, and no other process tells this one of its heartbeats.
                try await Task.sleep(for: .milliseconds(250))
            }
        } catch {
            // The drain meets the same error, and the outcomes report what waits.
            return
        }
        if hasWaited { gateway.queue.wakeAll() }
    }

    /// Two counts of the whole queue, because an earlier run may have left deliveries.
    private func counts() async throws(StoreError) -> DeliveryOutcomes.Counts {
        .init(states: try await gateway.queue.counts(), scheduled: try await gateway.queue.scheduledCount())
    }

    /// Reads from the checkpoint to the end of the inputs. Throws ``ReplayError/limitReached`` at the limit.
    private func read() async throws {
        guard !session.isComplete else { return }
        guard session.room > 0 else { throw ReplayError.limitReached }
        var pace = session.pace
        var chunk = QueueChunk(pace)
        chunk.failures = failures
        let recording = recording
        do {
            try await session.reading().run { block, parser in
                recording.events(of: block, with: parser)
            } consume: { block, entries in
                if session.interruption.happened { throw ReplayError.interrupted }
                session.recordReading(block)
                try await append(entries, of: block, to: &chunk, &pace)
            }
        } catch ReplayError.damaged(let sentence) {
            // Payloads before the damage still count.
            try await commit(&chunk, &pace)
            throw ReplayError.damaged(sentence)
        }
        try await commit(&chunk, &pace)
    }

    /// Commits whenever the chunk is full, and at the limit of events.
    private func append(
        _ entries: [Recording.Entry<RoutedEvent>], of block: ParallelReading.Block, to chunk: inout QueueChunk,
        _ pace: inout Pace
    ) async throws {
        for entry in entries {
            // The counters of failure rules that are saved with a chunk do not count the entries after it.
            if !chunk.hasRoom(for: entry) { try await commit(&chunk, &pace, of: block) }
            chunk.add(entry, of: block.input)
            if chunk.events.count >= session.room {
                try await commit(&chunk, &pace, of: block)
                throw ReplayError.limitReached
            }
        }
        chunk.end = block.end
        // A pipe may deliver no further input for a long time. A chunk without events needs no commit.
        if chunk.isLarge || chunk.events.isEmpty || pace.isBounded || !session.hasPlainInputs {
            try await commit(&chunk, &pace, of: block)
        }
    }

    /// Waits for the pace, commits a chunk, counts it, and starts the next one. Progress is recorded after the
    /// commit, so a crash can repeat events but not lose them. Repeats have the same ids and are not stored again.
    /// Throws ``ReplayError/interrupted`` while it waits for the pace; the chunk is then not appended. `block`: the one
    /// that has all events of the chunk, if the pace is bounded.
    private func commit(
        _ chunk: inout QueueChunk, _ pace: inout Pace, of block: ParallelReading.Block? = nil
    ) async throws {
        var full = chunk
        chunk = QueueChunk(pace)
        chunk.failures = full.failures
        if pace.isBounded, !full.events.isEmpty {
            try await session.wait(pace.delay(of: full.events.count, recorded: full.recorded, at: session.elapsed()))
            // The block may have been read long ago. The time of an event, and its time to live, begin now.
            if let block {
                full.replaceEvents { offsets in
                    ParallelReading.parsers.withParser { recording.events(of: block, at: offsets, with: $0) }
                }
            }
        }
        guard case .appended(let repeats) = try await gateway.queue.append(full.events) else {
            preconditionFailure("An append without a request cannot repeat a request.")
        }
        for (index, routed) in full.events.enumerated() {
            if repeats[index] == nil { appended.add(routed) }
            session.add(
                vendor: routed.event.vendor.name, routes: routed.routes, warnings: routed.event.warnings,
                isRepeat: repeats[index] != nil)
        }
        for (rejection, input) in full.rejections { try session.add(rejection, of: input) }
        if let counts = full.failures?.counts { session.failureCounts = counts }
        if let end = full.end { try session.reached(end) }
    }
}

/// Events that are committed together, and the rejections between them.
private struct QueueChunk {
    /// In the order of the inputs.
    private(set) var events: [RoutedEvent] = []
    /// The position of each event in its input.
    private var offsets: [Int] = []
    /// With the index of the input.
    private(set) var rejections: [(rejection: Rejection, input: Int)] = []
    /// The recorded time of the first event.
    private(set) var recorded: Timestamp?
    /// Everything before it is in this chunk or an earlier one.
    var end: InputPosition?
    /// The failure rules with their counters after the last entry; nil applies none.
    var failures: RecordedFailures?
    /// The size of the events and their payloads.
    private var bytes = 0
    private var deliveries = 0
    /// Events that the pace permits together.
    private let most: Int
    /// Milliseconds of recorded time that the pace permits together.
    private let span: Int64

    /// At this size a commit costs little more than its rows. Each limit bounds the memory.
    private static let large = (
        events: 2048, bytes: 4 * 1024 * 1024, deliveries: StoreLimits.deliveriesOfCommit
    )

    init(_ pace: Pace) {
        most = pace.mostTogether
        span = pace.spanTogether
    }

    /// True when the chunk must be committed.
    var isLarge: Bool {
        max(events.count, rejections.count) >= Self.large.events || bytes >= Self.large.bytes
            || deliveries >= Self.large.deliveries
    }

    /// False if the event belongs into the next chunk. Rejections always fit.
    func hasRoom(for entry: Recording.Entry<RoutedEvent>) -> Bool {
        guard case .success = entry.value else { return true }
        return events.count < most && deliveries < Self.large.deliveries && isNear(entry.recorded)
    }

    /// Adds an entry for which there is room. Counts it for the failure rules that select it; a rule may reject it.
    /// Sets ``end`` after the entry.
    mutating func add(_ entry: Recording.Entry<RoutedEvent>, of input: Int) {
        end = InputPosition(input: input, offset: entry.place.offset + 1)
        switch entry.value {
        case .failure(let rejection): rejections.append((rejection, input))
        case .success(let routed):
            if let rejection = failures?.decide(entry.failures, at: entry.place) {
                return rejections.append((rejection, input))
            }
            if events.isEmpty { recorded = entry.recorded }
            events.append(routed)
            offsets.append(entry.place.offset)
            bytes += routed.event.body.count + (routed.payload?.count ?? 0)
            deliveries += routed.deliveryCount
        }
    }

    /// Replaces each event by the one that `make` returns for its position, if there is one.
    mutating func replaceEvents(by make: (Set<Int>) -> [Recording.Entry<RoutedEvent>]) {
        var made: [Int: RoutedEvent] = [:]
        for entry in make(Set(offsets)) { made[entry.place.offset] = try? entry.value.get() }
        for (index, offset) in offsets.enumerated() { events[index] = made[offset] ?? events[index] }
    }

    /// True for an event without a time.
    private func isNear(_ time: Timestamp?) -> Bool {
        guard span != .max, let time, let recorded else { return true }
        return abs(time.milliseconds - recorded.milliseconds) <= span
    }
}

/// Counts deliveries by their destination. A class because the copies of a replay share it.
private final class AppendedDeliveries: Sendable {
    private let state = Mutex<(counts: [DestinationName: Int], scheduled: Int)>(([:], 0))

    /// Adds the deliveries of an event and of its followers.
    func add(_ routed: RoutedEvent) {
        state.withLock { state in
            for delivery in routed.deliveries {
                state.counts[delivery.destination, default: 0] += 1
                if delivery.notBefore != nil { state.scheduled += 1 }
            }
        }
        for follower in routed.followers { add(follower) }
    }

    /// Destinations without a delivery are missing.
    var counts: [DestinationName: Int] { state.withLock { $0.counts } }

    /// Deliveries with a scheduled time.
    var scheduled: Int { state.withLock { $0.scheduled } }
}
