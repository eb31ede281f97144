import ArgumentParser
import Foundation
import SignalboxConfig
import SignalboxEgress
import SignalboxGateway
import SignalboxNotification
import SignalboxRouting
import SignalboxStore

/// A replay through the durable queue of a data directory, to the destinations.
struct QueueReplay {
    private let command: Replay
    private let gateway: Gateway
    private let session: ReplaySession
    private let recording: Recording

    init(_ command: Replay, interruption: Interruption) throws {
        self.command = command
        let loaded = try command.options.loadConfig()
        let config = loaded.config
        try command.selection.checkVendors(config)
        gateway = try Gateway(command.options, config: loaded, logger: command.options.makeLogger()) { text in
            Terminal.show(text)
        }
        // Only now, so that nothing is begun on a directory that belongs to another process.
        session = try ReplaySession(command, interruption: interruption)
        let source = command.source ?? .default
        recording = Recording(
            normalizer: gateway.plan.normalizer, routes: loaded.routes, source: source,
            vendor: config.sourceVendors[source], envelope: command.envelope.recorded,
            selection: try command.selection.selection(now: session.began), identity: session.identity,
            now: { Date() })
    }

    /// Returns whether something was rejected, some deliveries failed, or not all could be shown.
    func run() async throws -> Bool {
        defer { gateway.stopSending() }
        let (before, scheduledBefore) = try await counts()
        try await gateway.openDownloads()
        let (dispatcher, downloads) = (gateway.dispatcher, gateway.downloads)
        session.interruption.whenItHappens {
            downloads.stop()
            dispatcher.drain(within: .seconds(5))
        }
        async let delivering: Void = dispatcher.runUntilDrained()
        async let downloading: Void = downloads.runUntilDrained()
        let reading: Result<Bool, any Error>
        do {
            reading = .success(try await session.untilEnd { try await read() })
        } catch {
            reading = .failure(error)
        }
        // What was begun is waited for; the rest is in the queue.
        if case .failure = reading { downloads.stop() } else { downloads.drain() }
        await downloading
        switch reading {
        case .failure: dispatcher.drain(within: .seconds(5))
        case .success: if !session.interruption.happened { dispatcher.drain() }
        }
        await delivering
        await gateway.carryOver(logger: command.options.makeLogger())
        try session.end(isComplete: (try? reading.get()) ?? false)
        let (after, scheduledAfter) = try await counts()
        let outcomes = DeliveryOutcomes(
            before: before, after: after, scheduled: (scheduledBefore, scheduledAfter))
        session.report(outcomes.text(json: command.json))
        let isShown = Terminal.finish()
        _ = try reading.get()
        return session.rejected > 0 || outcomes.failed > 0 || !isShown
    }

    private func counts() async throws -> (counts: [DestinationName: [DeliveryRecord.State: Int]], scheduled: Int) {
        let queue = gateway.queue
        return try await orRefuse { () throws(StoreError) in
            (try await queue.counts(), try await queue.scheduledCount())
        }
    }

    private func orRefuse<T: Sendable>(_ work: () async throws(StoreError) -> T) async throws(ExitCode) -> T {
        do throws(StoreError) { return try await work() } catch { throw refuse("\(error)") }
    }

    private func read() async throws {
        guard !session.isComplete else { return }
        guard session.room > 0 else { throw ReplayEnd.limit }
        var pace = Pace(perSecond: command.rate, speed: command.speed)
        var chunk = QueueChunk(pace)
        let recording = recording
        do {
            try await session.reading().run { block, parser in
                recording.events(of: block.recording, with: parser)
            } consume: { block, entries in
                if session.interruption.happened { throw ReplayEnd.interrupted }
                session.noteReading(block)
                try await take(entries, of: block, into: &chunk, &pace)
            }
        } catch let code as ExitCode where code == .incomplete {
            // Of an input that is damaged, what could be read still counts.
            try await put(&chunk, &pace)
            throw code
        }
        try await put(&chunk, &pace)
    }

    private func take(
        _ entries: [Recording.Entry<RoutedEvent>], of block: ParallelReading.Block, into chunk: inout QueueChunk,
        _ pace: inout Pace
    ) async throws {
        for entry in entries {
            if !chunk.add(entry, of: block.input) {
                try await put(&chunk, &pace)
                _ = chunk.add(entry, of: block.input)
            }
            if chunk.events.count >= session.room {
                try await put(&chunk, &pace)
                throw ReplayEnd.limit
            }
        }
        chunk.end = block.end
        // What comes through a pipe may be all that comes for long; that nothing was selected costs no commit.
        if chunk.isLarge || chunk.events.isEmpty || pace.isBounded || !session.hasPlainInputs {
            try await put(&chunk, &pace)
        }
    }

    /// Makes a chunk durable, when its time has come, counts it, and begins the next one.
    private func put(_ chunk: inout QueueChunk, _ pace: inout Pace) async throws {
        let full = chunk
        chunk = QueueChunk(pace)
        if pace.isBounded, !full.events.isEmpty {
            try await session.wait(
                pace.delay(of: full.events.count, recorded: full.recorded, at: session.elapsed()))
        }
        let queue = gateway.queue
        let result = try await orRefuse { () throws(StoreError) in try await queue.append(full.events) }
        guard case .appended(let repeats) = result else {
            preconditionFailure("An append without a request is no repeat of one.")
        }
        for (position, routed) in full.events.enumerated() {
            session.add(
                vendor: routed.event.vendor.name, routes: routed.routes, warnings: routed.event.warnings,
                isRepeat: repeats[position] != nil)
        }
        for (rejection, input) in full.rejections { try session.add(rejection, of: input) }
        if let end = full.end { try session.reached(end) }
    }
}

/// Events that go into the queue together, and what was rejected between them.
private struct QueueChunk {
    private(set) var events: [RoutedEvent] = []
    private(set) var rejections: [(rejection: Rejection, input: Int)] = []
    /// Of its first event.
    private(set) var recorded: Timestamp?
    /// All before it is in this chunk or in earlier ones.
    var end: InputPosition?
    private var bytes = 0
    private let most: Int
    private let span: Int64

    /// Commits of this size cost little more than their rows; memory is bounded by either.
    private static let large = (events: 2048, bytes: 4 * 1024 * 1024)

    init(_ pace: Pace) {
        most = pace.mostTogether
        span = pace.spanTogether
    }

    var isLarge: Bool { max(events.count, rejections.count) >= Self.large.events || bytes >= Self.large.bytes }

    /// False when the event has to go with the next chunk.
    mutating func add(_ entry: Recording.Entry<RoutedEvent>, of input: Int) -> Bool {
        switch entry.value {
        case .failure(let rejection): rejections.append((rejection, input))
        case .success(let routed):
            guard events.count < most, isNear(entry.recorded) else { return false }
            if events.isEmpty { recorded = entry.recorded }
            events.append(routed)
            bytes += routed.event.body.count + (routed.payload?.count ?? 0)
        }
        end = InputPosition(input: input, offset: entry.place.offset + 1)
        return true
    }

    private func isNear(_ time: Timestamp?) -> Bool {
        guard span != .max, let time, let recorded else { return true }
        return abs(time.milliseconds - recorded.milliseconds) <= span
    }
}
