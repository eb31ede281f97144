package import Foundation
package import SignalboxConfig
import SignalboxEgress
import SignalboxJSON
package import SignalboxNotification
package import SignalboxRouting
package import SignalboxStore

/// Takes what senders hand in: every payload becomes an event, gets its destinations, and is on disk before anyone is
/// told that it was accepted.
package struct Intake: Sendable {
    /// The most payloads in one batch.
    package static let batchLimit = 10_000

    private let normalizer: Normalizer
    private let routes: RouteTable
    /// Where the routes decide the same about every event, none needs to be read again.
    private let uniform: UniformRouting?
    private let queue: SQLiteQueue
    private let sources: [SourceName: GatewayConfig.Source]
    private let shaping: EventShaping
    private let payloadParsers = ParserPool.forPayloads()
    private let eventParsers = ParserPool.forEvents()
    private let spareWriter = SpareWriter()
    private let now: @Sendable () -> Date

    /// `sources`: what the config says of who hands payloads in. `counts`: counts what routes took.
    package init(
        normalizer: Normalizer, routes: RouteTable, queue: SQLiteQueue,
        sources: [SourceName: GatewayConfig.Source] = [:], counts: RouteCounts = RouteCounts(),
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.normalizer = normalizer
        self.routes = routes
        readsAtOnce = !routes.givesShapes
        uniform = routes.uniformDecision.map { UniformRouting($0) }
        self.queue = queue
        self.sources = sources
        shaping = EventShaping(tokens: normalizer.tokens, counts: counts)
        self.now = now
    }

    /// What became of the payloads of one request, in their order.
    package struct Report: Sendable {
        package let items: [Result<RoutedEvent, Rejection>]
        /// By position, the id of the earlier event that an item repeats: those were not taken again.
        package var duplicates: [Int: String] = [:]
        /// False when the body was one payload and nothing else.
        package let isBatch: Bool

        /// Of the items that are no rejections.
        fileprivate var acceptedPositions: [Int] {
            items.enumerated().compactMap { position, item in
                if case .success = item { position } else { nil }
            }
        }
    }

    /// Why a request was not taken at all; nothing of it was.
    package enum Failure: Error, Sendable {
        case tooManyPayloads
        case tooManyInteractions
        case interactionsTooLarge
        /// The key of the request was used for one with another body.
        case keyReused
        case store(StoreError)
    }

    /// What became of a request.
    package enum Answer: Sendable {
        case report(Report)
        /// It repeats an earlier one, which was answered so; nothing was taken now.
        case repeated(StoredAnswer)
    }

    /// How a request that its sender may repeat is told from others.
    package struct Repeatable: Sendable {
        /// `Idempotency-Key`.
        package let key: String
        /// The answer that is kept for repeats.
        package let answer: @Sendable (Report) -> StoredAnswer

        package init(key: String, answer: @escaping @Sendable (Report) -> StoredAnswer) {
            self.key = key
            self.answer = answer
        }
    }

    /// Takes a body that holds one payload, a JSON array of them, or NDJSON. When it returns, what was accepted is
    /// durable. `repeatable`: for a request whose sender may repeat it.
    package func accept(
        _ body: [UInt8], from source: SourceName, as repeatable: Repeatable? = nil
    ) async throws(Failure) -> Answer {
        let read = try payloadParsers.withParser { (parser) throws(Failure) -> Report in
            try self.read(body, from: source, with: parser)
        }
        let positions = read.acceptedPositions
        let request = repeatable.map { self.request($0, body, source, read, positions) }
        let events = read.items.compactMap { try? $0.get() }
        let result: AppendResult
        do throws(StoreError) {
            result = try await queue.append(events, of: request)
        } catch {
            throw .store(error)
        }
        switch result {
        case .appended(let duplicates):
            shaping.count(events, without: duplicates)
            var report = read
            report.duplicates = Self.moved(duplicates, to: positions)
            return .report(report)
        case .repeated(let answer): return .repeated(answer)
        case .conflicting: throw .keyReused
        }
    }

    /// Whether one payload is read in microseconds, and may be on a thread that others wait for: what routes make of an
    /// event may be large.
    package let readsAtOnce: Bool

    /// Returns when everything that was handed to ``accept(_:whenDone:)`` before has ended.
    package func finish() async { await queue.finish() }

    /// Reads a body that is one payload, on the thread that calls; nil where it is anything else, or is to be refused: of
    /// those ``accept(_:from:as:)`` says what becomes of them.
    package func readOne(_ body: UnsafeBufferPointer<UInt8>, from source: SourceName) -> Report? {
        let payload = body.trimmed
        guard payload.first == UInt8(ascii: "{") else { return nil }
        let envelope = normalizer.envelope(of: reception(from: source))
        let event = payloadParsers.withParser { parser in
            spareWriter.withWriter { json in
                try? normalizer.event(payload, in: envelope, at: Place(), with: parser, by: &json)
            }
        }
        guard let event else { return nil }
        let item = eventParsers.withParser {
            route(.success(event), dedupe: sources[source]?.dedupe, with: $0)
        }
        guard case .success = item else { return nil }
        return Report(items: [item], isBatch: false)
    }

    /// Takes what ``readOne(_:from:)`` has read. `done` is called once: when it is durable, or when nothing was taken, on a
    /// thread of the queue's, which must not be blocked.
    package func accept(_ read: Report, whenDone done: @escaping @Sendable (Result<Report, StoreError>) -> Void) {
        let events = read.items.compactMap { try? $0.get() }
        queue.append(events) { [shaping] result in
            done(
                result.map { duplicates in
                    shaping.count(events, without: duplicates)
                    var report = read
                    report.duplicates = duplicates
                    return report
                })
        }
    }

    private func request(
        _ repeatable: Repeatable, _ body: [UInt8], _ source: SourceName, _ report: Report, _ positions: [Int]
    ) -> IdempotentRequest {
        IdempotentRequest(
            from: source, key: repeatable.key, digest: sha256(body),
            since: now().addingTimeInterval(-(SQLiteQueue.requestMemory / .seconds(1)))
        ) { duplicates in
            var report = report
            report.duplicates = Self.moved(duplicates, to: positions)
            return repeatable.answer(report)
        }
    }

    /// The queue counts what it was given, the report what was handed in.
    private static func moved(_ duplicates: [Int: String], to positions: [Int]) -> [Int: String] {
        Dictionary(uniqueKeysWithValues: duplicates.map { (positions[$0.key], $0.value) })
    }

    private func read(_ body: [UInt8], from source: SourceName, with parser: JSONParser) throws(Failure) -> Report {
        var blocks = PayloadBlocks()
        body.withUnsafeBytes { blocks.append($0) }
        blocks.finish()
        let dedupe = sources[source]?.dedupe
        var items: [Result<RoutedEvent, Rejection>] = []
        var isTooLong = false
        eventParsers.withParser { eventParser in
            // Counted as they come: how many payloads a line holds shows only when it is read.
            blocks.take().read(by: normalizer, as: reception(from: source), with: parser) { item in
                isTooLong = items.count == Self.batchLimit
                guard !isTooLong else { return false }
                items.append(route(item, dedupe: dedupe, with: eventParser))
                return true
            }
        }
        if isTooLong { throw .tooManyPayloads }
        return Report(items: items, isBatch: blocks.isArray || items.count > 1)
    }

    private func reception(from source: SourceName) -> Reception {
        Reception(from: source, at: now(), vendor: sources[source]?.vendor)
    }

    private func route(
        _ item: consuming Result<Event, Rejection>, dedupe: GatewayConfig.Dedupe?, with parser: JSONParser
    ) -> Result<RoutedEvent, Rejection> {
        guard let uniform, dedupe == nil else {
            return routes.route(item, with: parser, shaping: shaping, dedupe: dedupe)
        }
        return uniform.route(item)
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Without JSON's white space at both ends.
    fileprivate var trimmed: UnsafeBufferPointer<UInt8> {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0A).contains(byte) || byte == 0x0D }
        guard let start = firstIndex(where: { !isSpace($0) }), let end = lastIndex(where: { !isSpace($0) }) else {
            return UnsafeBufferPointer(rebasing: prefix(0))
        }
        return UnsafeBufferPointer(rebasing: self[start...end])
    }
}
