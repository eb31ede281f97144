import ArgumentParser
import Dispatch
import Foundation
import SignalboxConfig
import SignalboxEgress
import SignalboxGateway
import SignalboxNotification
import SignalboxRouting

/// A replay into a running gateway: several requests under way at a time, settled in the order of the input.
struct GatewayReplay {
    private let command: Replay
    private let session: ReplaySession
    private let recording: Recording
    private let http: OutboundHTTP
    private let client: GatewayClient

    init(_ command: Replay, interruption: Interruption) throws {
        self.command = command
        guard let address = command.upload.to.flatMap({ GatewayAddress($0, source: command.source) }) else {
            preconditionFailure("The address was checked with the options.")
        }
        let token = try command.upload.resolvedToken()
        let setup = NormalizerOptions(command.options)
        let loaded = try setup.loaded()
        let config = loaded.config
        try command.selection.checkVendors(config)
        let normalizer = try setup.makeNormalizer()
        session = try ReplaySession(command, interruption: interruption)
        let source = command.source ?? .default
        recording = Recording(
            normalizer: normalizer, routes: loaded.routes, source: source, vendor: config.sourceVendors[source],
            envelope: command.envelope.recorded,
            selection: try command.selection.selection(now: session.began), now: { Date() })
        http = OutboundHTTP(policy: .wherever)
        client = GatewayClient(address, token: token, http: http, elapsed: session.elapsed, now: { Date() })
    }

    /// Returns whether something was rejected.
    func run() async throws -> Bool {
        defer { http.stop() }
        session.interruption.whenItHappens { [client, http] in
            client.close()
            // What is under way may still be settled.
            DispatchQueue.global().asyncAfter(deadline: .now() + 5) { http.stop() }
        }
        var sending = Sending(most: command.upload.connections ?? UploadOptions.defaultConnections)
        let isComplete: Bool
        do {
            isComplete = try await session.untilEnd { try await read(&sending) }
        } catch {
            client.close()
            await sending.abandon()
            try session.end(isComplete: false)
            session.report()
            throw error
        }
        await sending.abandon()
        try session.end(isComplete: isComplete)
        session.report()
        return session.rejected > 0
    }

    private func read(_ sending: inout Sending) async throws {
        guard !session.isComplete else { return }
        var pace = Pace(perSecond: command.rate, speed: command.speed)
        var batches = UploadBatches(most: min(UploadBatches.most, pace.mostTogether), span: pace.spanTogether)
        var room = session.room
        // Where requests are cut must not depend on how the input came, when they may be made again.
        let isResumable = command.resume != nil
        let recording = recording
        let ended: Result<Void, any Error>
        do {
            try await session.reading().run { block, parser in
                recording.payloads(of: block.recording, with: parser)
            } consume: { block, entries in
                session.noteReading(block)
                for entry in entries where room > 0 {
                    let full = batches.add(entry, input: block.input)
                    if case .success = entry.value { room -= 1 }
                    if let full { try await submit(full, &pace, &sending) }
                }
                if room == 0 { throw ReplayEnd.limit }
                if !isResumable, let rest = batches.close() { try await submit(rest, &pace, &sending) }
                if let empty = batches.reached(block.end) { try await submit(empty, &pace, &sending) }
            }
            ended = .success(())
        } catch {
            ended = .failure(error)
        }
        if session.interruption.happened {
            // What is settled by now counts.
            try await settleAll(&sending)
            throw ReplayEnd.interrupted
        }
        // Of an input that is damaged, what could be read still counts.
        if case .failure(let error) = ended, !(error is ReplayEnd), error as? ExitCode != .incomplete { throw error }
        if let rest = batches.close() { try await submit(rest, &pace, &sending) }
        try await settleAll(&sending)
        try ended.get()
    }

    /// Begins a request, once there is room for one more and its time has come.
    private func submit(_ batch: UploadBatch, _ pace: inout Pace, _ sending: inout Sending) async throws {
        if session.interruption.happened { throw ReplayEnd.interrupted }
        if pace.isBounded, !batch.places.isEmpty {
            try await session.wait(
                pace.delay(of: batch.places.count, recorded: batch.recorded, at: session.elapsed()))
        }
        while sending.isFull { try await settleNext(&sending) }
        let key = batch.first.map { first in
            (session.identity ?? Self.fresh).requestKey(input: first.input, offset: first.offset)
        }
        sending.start(batch, key: key, with: client)
    }

    /// Of a run that is never resumed; what is under way may be sent twice all the same.
    private static let fresh = RunIdentity(key: randomBytes(32), started: Date())

    private func settleAll(_ sending: inout Sending) async throws {
        while try await settleNext(&sending) {}
    }

    /// Counts the oldest request that is under way; false when there is none.
    @discardableResult
    private func settleNext(_ sending: inout Sending) async throws -> Bool {
        guard let sent = await sending.next() else { return false }
        let items: [UploadAnswer.Item]
        do throws(GatewayClient.Failure) {
            items = try sent.result.get()
        } catch {
            switch error {
            case .stopped: throw ReplayEnd.interrupted
            case .refused(let sentence): throw refuse(sentence)
            }
        }
        let batch = sent.batch
        for (item, place) in zip(items, batch.places) {
            switch item {
            case .taken(let vendor, let routes, let warnings, let isRepeat):
                session.add(vendor: vendor, routes: routes, warnings: warnings, isRepeat: isRepeat)
            case .rejected(let code, let message):
                try session.add(code, message, at: place, of: batch.input)
            }
        }
        for rejection in batch.rejections { try session.add(rejection, of: batch.input) }
        try session.reached(batch.end)
        return true
    }
}

/// The requests that are under way, in the order in which they were begun.
private struct Sending {
    struct Sent: Sendable {
        let batch: UploadBatch
        let result: Result<[UploadAnswer.Item], GatewayClient.Failure>
    }

    private var tasks = OrderedTasks<Sent>()
    private let most: Int

    init(most: Int) { self.most = most }

    var isFull: Bool { tasks.count >= most }

    mutating func start(_ batch: UploadBatch, key: String?, with client: GatewayClient) {
        tasks.start {
            guard let key else { return Sent(batch: batch, result: .success([])) }
            do throws(GatewayClient.Failure) {
                let items = try await client.send(batch.body, of: batch.places.count, key: key)
                return Sent(batch: batch, result: .success(items))
            } catch {
                return Sent(batch: batch, result: .failure(error))
            }
        }
    }

    mutating func next() async -> Sent? { await tasks.next() }

    /// Waits for all, whatever becomes of them.
    mutating func abandon() async {
        while await tasks.next() != nil {}
    }
}

extension UploadBatches {
    /// Returns the batch that had to be closed, if one had.
    fileprivate mutating func add(_ entry: Recording.Entry<[UInt8]>, input: Int) -> UploadBatch? {
        switch entry.value {
        case .success(let payload):
            return add(payload, at: entry.place, recorded: entry.recorded, input: input)
        case .failure(let rejection):
            add(rejection, input: input)
            return nil
        }
    }
}

extension AddressPolicy {
    /// For an address that an operator typed: it is meant, whatever network it is of.
    fileprivate static let wherever = AddressPolicy(
        allow: ["0.0.0.0/0", "::/0"].compactMap { AddressRange($0) })
}
