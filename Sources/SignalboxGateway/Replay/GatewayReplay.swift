import Dispatch
import Foundation
import SignalboxEgress
import SignalboxNotification
package import SignalboxRouting

/// A replay into a running gateway: several requests in flight, settled in the order of the input. It needs no data
/// directory. Payloads are sent unchanged, and that gateway makes the events.
package struct GatewayReplay {
    private let options: ReplayOptions
    private let session: ReplaySession
    private let recording: Recording
    /// Used by this run only, so that the end of the run closes its connections.
    private let http: OutboundHTTP
    private let client: GatewayClient

    /// `token`: the token of a source of that gateway. Throws ``ReplayError/refused(_:)`` for an invalid selection. The
    /// routes of the config do not apply. `normalizer`, `config`: for selections by vendor and pattern, which are
    /// decided here.
    package init(
        _ options: ReplayOptions, to address: GatewayAddress, token: String?, by normalizer: Normalizer,
        _ config: RoutedConfig, in session: ReplaySession
    ) throws {
        (self.options, self.session) = (options, session)
        recording = try Recording(options, by: normalizer, config.config, config.routes, in: session)
        // The operator typed the address, so the egress policy does not apply to it.
        http = OutboundHTTP(policy: .unrestricted)
        client = GatewayClient(address, token: token, http: http, elapsed: session.elapsed, now: { Date() })
    }

    /// In the order in which they were started.
    private typealias RequestsInFlight = OrderedTasks<(UploadBatch, Result<[Receipt], ReplayError>)>

    /// Runs to the end of the input or the limit. Returns true if a payload was rejected. After ^C, requests in
    /// flight have five seconds to be settled. Progress is saved however the run ends. Throws ``ReplayError`` for an
    /// input that cannot be read, a gateway that refuses requests, and a file that cannot be written.
    package func run() async throws -> Bool {
        defer { http.stop() }
        session.interruption.whenItHappens { [client, http] in
            client.close()
            // Requests in flight may still be settled.
            DispatchQueue.global().asyncAfter(deadline: .now() + 5) { http.stop() }
        }
        var requests = RequestsInFlight()
        let result = await Result(awaiting: { try await session.untilEnd { try await read(&requests) } })
        if case .failure = result { client.close() }
        await requests.finish()
        try session.end(isComplete: (try? result.get()) ?? false)
        session.report()
        _ = try result.get()
        return session.rejected > 0
    }

    /// Sends requests until the input ends; payloads count as settled in the order of the input only. At most
    /// `connections` requests are in flight, so memory stays bounded.
    private func read(_ requests: inout RequestsInFlight) async throws {
        guard !session.isComplete else { return }
        var pace = session.pace
        var batches = UploadBatches(most: min(UploadBatches.most, pace.mostTogether), span: pace.spanTogether)
        var room = session.room
        // The cuts of a resumable run must not depend on how the input arrived.
        let isResumable = options.resume != nil
        let recording = recording
        let ended = await Result(awaiting: {
            try await session.reading().run { block, parser in
                recording.payloads(of: block, with: parser)
            } consume: { block, entries in
                session.recordReading(block)
                for entry in entries where room > 0 {
                    let full = batches.add(entry, input: block.input)
                    if case .success = entry.value { room -= 1 }
                    if let full { try await submit(full, &pace, &requests) }
                }
                if room == 0 { throw ReplayError.limitReached }
                if !isResumable, let rest = batches.close() { try await submit(rest, &pace, &requests) }
                if let empty = batches.reached(block.end) { try await submit(empty, &pace, &requests) }
            }
        })
        if session.interruption.happened {
            // Answers that arrive by now count.
            while try await settleNext(&requests) {}
            throw ReplayError.interrupted
        }
        switch ended {
        // Payloads before the limit or the damage still count.
        case .success, .failure(ReplayError.limitReached), .failure(ReplayError.damaged): break
        case .failure(let error): throw error
        }
        if let rest = batches.close() { try await submit(rest, &pace, &requests) }
        while try await settleNext(&requests) {}
        try ended.get()
    }

    /// Starts a request once the pace and the number of requests in flight permit. Waits for the pace first. The key
    /// of the request depends on the run and its first payload, so a resumed run repeats it. An empty batch sends no
    /// request and only carries a position and rejections.
    private func submit(_ batch: UploadBatch, _ pace: inout Pace, _ requests: inout RequestsInFlight) async throws {
        if session.interruption.happened { throw ReplayError.interrupted }
        if pace.isBounded, !batch.places.isEmpty {
            try await session.wait(pace.delay(of: batch.places.count, recorded: batch.recorded, at: session.elapsed()))
        }
        while requests.count >= options.connections { try await settleNext(&requests) }
        let identity = session.identity ?? Self.fresh
        requests.start { [client] in
            guard let first = batch.first else { return (batch, .success([])) }
            let key = identity.requestKey(input: first.input, offset: first.offset)
            do throws(ReplayError) {
                return (batch, .success(try await client.send(batch.body, of: batch.places.count, key: key)))
            } catch {
                return (batch, .failure(error))
            }
        }
    }

    /// The identity of a run without a resume file: its requests are retried within the run only.
    private static let fresh = RunIdentity(key: randomBytes(32), started: Date())

    /// Awaits and counts the oldest request in flight; false if there is none. Throws the error of the request, after
    /// which no later request is counted.
    @discardableResult
    private func settleNext(_ requests: inout RequestsInFlight) async throws -> Bool {
        guard let (batch, result) = await requests.next() else { return false }
        for (item, place) in zip(try result.get(), batch.places) {
            switch item {
            case .taken(let vendor, let routes, let warnings, let isRepeat):
                session.add(vendor: vendor, routes: routes, warnings: warnings, isRepeat: isRepeat)
            case .rejected(let code, let message): try session.add(code, message, at: place, of: batch.input)
            }
        }
        for rejection in batch.rejections { try session.add(rejection, of: batch.input) }
        try session.reached(batch.end)
        return true
    }
}

/// Entries of a recording as parts of a request.
extension UploadBatches {
    /// Returns the batch that had to be closed, if any.
    fileprivate mutating func add(_ entry: Recording.Entry<[UInt8]>, input: Int) -> UploadBatch? {
        switch entry.value {
        case .success(let payload): return add(payload, at: entry.place, recorded: entry.recorded, input: input)
        case .failure(let rejection):
            add(rejection, input: input)
            return nil
        }
    }
}
