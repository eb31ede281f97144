package import Foundation
package import SignalboxConfig
import SignalboxEgress
import SignalboxJSON
package import SignalboxNotification
package import SignalboxRouting
package import SignalboxStore

/// Accepts payloads: each becomes an event with its deliveries, and is on disk before the sender gets a reply.
///
/// The flow: ``PayloadBlocks`` cuts the body into payloads, ``Normalizer`` turns each into an event, `RouteTable`
/// assigns its deliveries (`EventRouting.swift`, ``EventVariants``), and the queue commits the events of a request
/// together. Both entry points, the router's ``accept(_:from:as:trace:)`` and the direct path's
/// ``readOne(_:from:trace:)`` with ``accept(_:whenDone:)``, read a single payload and complete the report by the same
/// two functions. A reload makes a new intake; requests in progress finish with the one they began with. Callable from
/// any task.
///
/// A class although it is immutable: every request holds it until its commit, and a copy would retain two dozen
/// references.
package final class Intake: Sendable {
    /// Maximum number of payloads in one batch.
    package static let batchLimit = 10_000
    /// The limit of ``MatchWork`` for one event on an event loop: about a millisecond, because connections wait.
    package static let directWork = 1 << 20
    /// How long the reading of a batch may keep a thread, beyond the payload that it reads.
    private static let slice: Duration = .milliseconds(20)

    let normalizer: Normalizer
    let routes: RouteTable
    /// The same routes with ``directWork`` as their limit.
    let quickRoutes: RouteTable
    /// Set if the routes decide the same for every event: events then need not be parsed again.
    private let uniform: UniformRouting?
    let queue: any IntakeStore
    private let sources: [SourceName: GatewayConfig.Source]
    /// By the sources of the config, and the default one.
    private let openings: [SourceName: CloudEventEnvelope.Opening]
    let variants: EventVariants
    private let payloadParsers = ParserPool.forPayloads()
    private let eventParsers = ParserPool.events
    private let spareWriter = SpareWriter()
    /// The clock for `time` and for ids.
    let now: @Sendable () -> Date

    /// True if one payload takes microseconds and may be read on an event loop. False if routes make variants, which
    /// may be large.
    package let readsAtOnce: Bool

    /// `sources`: settings by source. `counts`: receives the matches of routes. `observation`: receives committed
    /// events. Computes ``UniformRouting`` for the routes. `now`: the clock for `time` and for ids.
    package init(
        normalizer: Normalizer, routes: RouteTable, queue: any IntakeStore,
        sources: [SourceName: GatewayConfig.Source] = [:], counts: RouteCounts = RouteCounts(),
        observation: Observation? = nil, now: @escaping @Sendable () -> Date = { Date() }
    ) {
        (self.normalizer, self.routes) = (normalizer, routes)
        var quickRoutes = routes
        quickRoutes.workLimit = min(routes.workLimit, Self.directWork)
        self.quickRoutes = quickRoutes
        readsAtOnce = !routes.hasVariants
        uniform = routes.uniformDecision.map { UniformRouting($0) }
        (self.queue, self.sources) = (queue, sources)
        openings = Dictionary(
            uniqueKeysWithValues: Set(sources.keys).union([.default]).map { ($0, normalizer.opening(for: $0)) })
        variants = EventVariants(tokens: normalizer.tokens, counts: counts, observation: observation)
        self.now = now
    }

    /// The results of one request's payloads, in their order.
    package struct Report: Sendable {
        /// One for each payload. A rejected payload was not stored.
        package let items: [Result<RoutedEvent, Rejection>]
        /// The id of the earlier event that an item repeats, by position. Such items were not stored again.
        package var duplicates: [Int: String] = [:]
        /// False if the body was exactly one payload.
        package let isBatch: Bool
        /// The trace of the request; nil for none.
        fileprivate var trace: RequestTrace?

        /// The accepted events, in order; positions in it differ from those of `items` after a rejection. Made anew for
        /// each call.
        fileprivate var events: [RoutedEvent] { items.compactMap { try? $0.get() } }
    }

    /// Why a request was rejected as a whole; none of its payloads was stored. The server chooses the status of each
    /// case. A failure of the store may be temporary; see ``StoreError``.
    package enum Failure: Error, Sendable {
        case tooManyPayloads, tooManyDeliveries, tooManyInteractions, interactionsTooLarge
        /// The idempotency key was used for another body.
        case keyReused
        case store(StoreError)
    }

    /// The outcome of a request that was not rejected as a whole. A report may consist of rejections only.
    package enum Answer: Sendable {
        /// The accepted events are durable.
        case report(Report)
        /// The request repeats an earlier one with this answer; nothing was stored.
        case repeated(StoredAnswer)
    }

    /// A request that its sender may repeat. Its answer is stored with the events in one transaction.
    package struct Repeatable: Sendable {
        /// `Idempotency-Key`.
        package let key: String
        /// The answer to store for repeats.
        package let answer: @Sendable (Report) -> StoredAnswer

        /// `answer` is called during the commit, with the report that the request then gets.
        package init(key: String, answer: @escaping @Sendable (Report) -> StoredAnswer) {
            (self.key, self.answer) = (key, answer)
        }
    }

    // MARK: Accepting

    /// Accepts a body: one payload, a JSON array of payloads, or NDJSON. Accepted events are durable when this
    /// returns. `repeatable`: set for a request with an idempotency key. `trace`: of the request; nil for none. Throws
    /// ``Failure`` if the whole body is rejected: too many payloads or deliveries, a reused key, or an error of the
    /// store. Invalid payloads are items of the report and do not throw.
    package func accept(
        _ body: [UInt8], from source: SourceName, as repeatable: Repeatable? = nil, trace: RequestTrace? = nil
    ) async throws(Failure) -> Answer {
        let single = body.withUnsafeBufferPointer { bytes in
            // A line end means several payloads, or one that is formatted: the splitter decides.
            bytes.hasLineEnd ? nil : readSingle(bytes, from: source, by: routes, trace)
        }
        let read: Report
        do throws(Failure) {
            if let single { read = single } else { read = try await readAll(body, from: source, trace) }
        } catch {
            // A reload may have added destinations since an equal request was accepted.
            guard case .tooManyDeliveries = error, let answer = try await answer(to: repeatable, body, from: source)
            else { throw error }
            return .repeated(answer)
        }
        let events = read.events
        // The repeat of a request without an event is rejected again, for the same reason.
        let isRejected = events.isEmpty && !read.isBatch
        let request = isRejected ? nil : repeatable.map { self.request($0, body, source, read) }
        // Before the commit: this processor still has the events in its cache.
        let tally = EventTally(events, without: [:])
        let result: AppendResult
        do throws(StoreError) {
            result = try await queue.append(events, of: request)
        } catch { throw .store(error) }
        switch result {
        case .appended(let duplicates): return .report(committed(read, events, tally, duplicates))
        case .repeated(let answer): return .repeated(answer)
        case .conflicting: throw .keyReused
        }
    }

    /// Accepts a report of ``readOne(_:from:trace:)``. Calls `done` once, when the event is durable or was not stored,
    /// on a thread of the queue that must not block. The direct path of the HTTP server calls it from an event loop;
    /// the call itself does not wait.
    package func accept(_ read: Report, whenDone done: @escaping @Sendable (Result<Report, StoreError>) -> Void) {
        let events = read.events
        let tally = EventTally(events, without: [:])
        queue.append(events) { [self] result in done(result.map { committed(read, events, tally, $0) }) }
    }

    /// Counts the committed events and completes the report. `tally`: counts all events. `duplicates`: by position
    /// among the events. Called after the commit, so repeats and failed commits are not counted.
    private func committed(
        _ read: Report, _ events: [RoutedEvent], _ tally: EventTally, _ duplicates: [Int: String]
    ) -> Report {
        variants.count(duplicates.isEmpty ? tally : EventTally(events, without: duplicates))
        read.trace?.recordCreation(of: events, without: duplicates)
        return Self.completed(read, duplicates)
    }

    /// Moves duplicates from positions among the events to positions among the items. The queue knows only accepted
    /// events, so its positions skip the rejected items.
    private static func completed(_ read: Report, _ duplicates: [Int: String]) -> Report {
        guard !duplicates.isEmpty else { return read }
        let positions = read.items.indices.filter { if case .success = read.items[$0] { true } else { false } }
        var report = read
        report.duplicates = Dictionary(uniqueKeysWithValues: duplicates.map { (positions[$0.key], $0.value) })
        return report
    }

    /// The digest of the body tells a repeat from a reused key.
    private func request(
        _ repeatable: Repeatable, _ body: [UInt8], _ source: SourceName, _ read: Report
    ) -> IdempotentRequest {
        IdempotentRequest(from: source, key: repeatable.key, digest: sha256(body)) {
            repeatable.answer(Self.completed(read, $0))
        }
    }

    // MARK: Reading

    /// Reads a body of exactly one valid payload, on the calling thread. Nil for any other body, and if its routes take
    /// more than ``directWork``; ``accept(_:from:as:trace:)`` handles both. Runs on an event loop, so it neither blocks
    /// nor waits. Requires ``readsAtOnce``. `trace`: of the request; nil for none.
    package func readOne(
        _ body: UnsafeBufferPointer<UInt8>, from source: SourceName, trace: RequestTrace? = nil
    ) -> Report? {
        guard let read = readSingle(body, from: source, by: quickRoutes, trace), case .success? = read.items.first
        else {
            return nil
        }
        return read
    }

    /// Reads a body of exactly one payload that becomes an event; nil for any other body. Rejects an event whose routes
    /// cannot be evaluated, so that they are not evaluated again. A parse error is not reported here:
    /// ``readAll(_:from:_:)`` reads the body again and reports it with its position.
    private func readSingle(
        _ body: UnsafeBufferPointer<UInt8>, from source: SourceName, by routes: RouteTable, _ trace: RequestTrace?
    ) -> Report? {
        let payload = body.trimmed
        guard payload.first == UInt8(ascii: "{") else { return nil }
        let event = event(
            of: RecordedPayload(text: payload, place: PayloadPosition()), from: source, at: now(), trace: trace)
        guard case .success = event else { return nil }
        return Report(items: [route(event, from: source, by: routes)], isBatch: false, trace: trace)
    }

    /// The event of one payload that arrived at `time`, read on the calling thread. `previews`: nil for an event that
    /// is to be stored.
    func event(
        of payload: RecordedPayload, from source: SourceName, at time: Date, trace: RequestTrace? = nil,
        by previews: Normalizer? = nil
    ) -> Result<Event, Rejection> {
        let normalizer = previews ?? normalizer
        let envelope = normalizer.envelope(
            of: reception(from: source, at: time, trace), opening: openings[source] ?? normalizer.opening(for: source))
        return payloadParsers.withParser { parser in
            spareWriter.withWriter { json in
                Result { () throws(Rejection) in
                    try normalizer.event(payload, in: envelope, with: parser, by: &json)
                }
            }
        }
    }

    /// The deliveries of one event, decided on the calling thread. A rejection is returned unchanged.
    func route(
        _ event: Result<Event, Rejection>, from source: SourceName, by routes: RouteTable
    ) -> Result<RoutedEvent, Rejection> {
        eventParsers.withParser { route(event, by: routes, dedupe: sources[source]?.dedupe, with: $0) }
    }

    /// Stops as soon as the body exceeds ``batchLimit`` or the deliveries of a request; its other payloads are not
    /// parsed. Lets other tasks run after each ``slice``: patterns and templates may take seconds for a batch.
    private func readAll(
        _ body: [UInt8], from source: SourceName, _ trace: RequestTrace?
    ) async throws(Failure) -> Report {
        var blocks = PayloadBlocks()
        blocks.append(body)
        blocks.finish()
        let block = blocks.take()
        let dedupe = sources[source]?.dedupe
        var items: [Result<RoutedEvent, Rejection>] = []
        items.reserveCapacity(min(block.count, Self.batchLimit))
        var deliveries = RequestDeliveries()
        var excess: Failure?
        let reception = reception(from: source, at: now(), trace)
        var next: Int? = 0
        while let first = next {
            if first > 0 { await Task.yield() }
            next = payloadParsers.withParser { parser in
                eventParsers.withParser { eventParser in
                    // Counted during the reading: the number of payloads in a line is known only after it was read.
                    block.read(from: first, by: normalizer, as: reception, with: parser, upTo: Self.slice) {
                        (item: consuming Result<Event, Rejection>) in
                        if items.count == Self.batchLimit { excess = .tooManyPayloads }
                        guard excess == nil else { return false }
                        let routed = route(item, by: routes, dedupe: dedupe, with: eventParser)
                        if !deliveries.admit(routed) { excess = .tooManyDeliveries }
                        items.append(routed)
                        return excess == nil
                    }
                }
            }
        }
        if let excess { throw excess }
        return Report(items: items, isBatch: blocks.isArray || items.count > 1, trace: trace)
    }

    /// The time is taken once for each reading, so all events of a request have the same `time`.
    private func reception(from source: SourceName, at time: Date, _ trace: RequestTrace?) -> Reception {
        Reception(from: source, at: time, vendor: sources[source]?.vendor, trace: trace)
    }

    /// Uses the uniform decision if there is one and the source does not look for repeats.
    private func route(
        _ item: consuming Result<Event, Rejection>, by routes: RouteTable, dedupe: GatewayConfig.Dedupe?,
        with parser: JSONParser
    ) -> Result<RoutedEvent, Rejection> {
        guard let uniform, dedupe == nil else {
            return routes.route(item, with: parser, variants: variants, dedupe: dedupe)
        }
        return uniform.route(item)
    }
}
