import Foundation
import SignalboxConfig
import SignalboxJSON
import SignalboxNotification
import SignalboxRouting

/// Reads the selected payloads of a recording, block by block, as events or as payloads. Callable from any thread.
/// The three kinds of replay share it. Each block is read on one worker; the results have the order of the input.
/// `Sendable` without a lock: each worker has a parser and a writer of its own.
struct Recording: Sendable {
    private let normalizer: Normalizer
    private let routes: RouteTable
    /// Set if the routes decide the same for every event: events then need not be parsed.
    private let uniform: RouteTable.Decision?
    private let variants: EventVariants
    private let source: SourceName
    private let vendor: VendorID?
    private let envelope: RecordedEnvelope
    private let selection: Selection
    /// Nil for runs whose events get ids as the gateway gives them.
    private let identity: RunIdentity?
    /// The failure rules before the run; nil if it applies none.
    private let failures: RecordedFailures?
    private let eventParsers = ParserPool.events
    /// Nil if the command line says where payloads are.
    private let wrapped: WrappedPayloads?

    /// `session`: the run, whose start ages count from. `hasLastingIDs`: derives event ids from the run, so that a
    /// resumed run repeats them. `failures`: the failure rules of the run; nil applies none. Throws
    /// ``ReplayError/refused(_:)`` for an invalid selection.
    init(
        _ options: ReplayOptions, by normalizer: Normalizer, _ config: GatewayConfig, _ routes: RouteTable,
        in session: ReplaySession, failures: RecordedFailures? = nil, hasLastingIDs: Bool = false
    ) throws(ReplayError) {
        (self.normalizer, self.routes) = (normalizer, routes)
        uniform = routes.uniformDecision
        variants = EventVariants(tokens: normalizer.tokens)
        source = options.source ?? .default
        vendor = config.sourceVendors[source]
        envelope = options.envelope
        wrapped = options.envelope.payload == nil ? session.wrapped : nil
        selection = try options.selection.selection(now: session.began)
        self.failures = failures
        identity = hasLastingIDs ? session.identity : nil
    }

    /// The result of one recorded text. `value`: the event or payload, or the reason why there is none. `recorded`:
    /// nil without a time in the envelope.
    struct Entry<Value: Sendable>: Sendable {
        /// Line and offset in its input, decompressed.
        let place: PayloadPosition
        var recorded: Timestamp?
        /// The ids of the failure rules that select the payload.
        var failures: [Int] = []
        let value: Result<Value, Rejection>

        fileprivate init(_ value: Value, of payload: RecordedPayload) {
            self.init(place: payload.place, recorded: payload.time, value: .success(value))
        }

        fileprivate init(_ rejection: Rejection) { self.init(place: rejection.place, value: .failure(rejection)) }

        private init(place: PayloadPosition, recorded: Timestamp? = nil, value: Result<Value, Rejection>) {
            (self.place, self.recorded, self.value) = (place, recorded, value)
        }
    }

    /// The selected events with their deliveries, and the rejections, in the order of the input. The events are
    /// complete with their variants and can be appended to a queue. A payload that cannot be read is a rejection,
    /// because its vendor is unknown. Rejects a payload whose event is too large or too costly to route. `offsets`: the
    /// positions of the payloads; nil for all payloads of the block. The events are accepted now.
    func events(
        of block: ParallelReading.Block, at offsets: Set<Int>? = nil, with parser: JSONParser
    ) -> [Entry<RoutedEvent>] {
        var entries: [Entry<RoutedEvent>] = []
        var json = JSONWriter()
        eventParsers.withParser { eventParser in
            forEachPayload(of: block, at: offsets, with: parser) { payload, common, id throws(Rejection) in
                let event = try normalizer.event(payload, in: common, id: id, with: parser, by: &json)
                guard selection.covers(vendor: event.vendor) else { return true }
                let routed = try routes.route(
                    event, at: payload.place, matching: selection.filter, hasLastingID: identity != nil,
                    with: eventParser, variants: variants)
                if let routed {
                    var entry = Entry(routed, of: payload)
                    entry.failures = try selecting(routed.event, at: payload.place, with: eventParser)
                    entries.append(entry)
                }
                return true
            } rejected: {
                entries.append(Entry($0))
            }
        }
        return entries
    }

    /// The ids of the failure rules that select the payload of an event. Invalidates values parsed before.
    private func selecting(
        _ event: Event, at place: PayloadPosition, with parser: JSONParser
    ) throws(Rejection) -> [Int] {
        guard let failures else { return [] }
        return failures.selecting(try parser.read(event, at: place), from: source)
    }

    /// The selected payloads, unchanged, and the rejections, in the order of the input. Checks that each payload is
    /// an object, so that a gateway does not reject the request because of it. Copies each payload, because a block's
    /// memory ends with it.
    func payloads(of block: ParallelReading.Block, with parser: JSONParser) -> [Entry<[UInt8]>] {
        var entries: [Entry<[UInt8]>] = []
        eventParsers.withParser { eventParser in
            func append(_ payload: RecordedPayload) -> Bool {
                entries.append(Entry(Array(payload.text), of: payload))
                return true
            }
            guard selection.needsEvents else {
                return forEachPayload(of: block, with: parser) { payload, _, _ throws(Rejection) in
                    _ = try normalizer.recognise(payload.text, at: payload.place, with: parser)
                    return append(payload)
                } rejected: {
                    entries.append(Entry($0))
                }
            }
            forEachNotification(of: block, with: parser) { _, event, payload throws(Rejection) in
                let isSelected = try selection.filter?.selects(event, at: payload.place, with: eventParser) ?? true
                return isSelected ? append(payload) : true
            } rejected: {
                entries.append(Entry($0))
            }
        }
        return entries
    }

    /// The routing decisions for at most `limit` events, as text or JSON. Counts the selected events only.
    /// Routes are evaluated once if they decide the same for every event. `failures`: counts the events, so the blocks
    /// must come in the order of the recording; nil applies no rule.
    func decisions(
        of block: ParallelReading.Block, upTo limit: Int, asJSON: Bool, failing failures: inout RecordedFailures?,
        with parser: JSONParser
    ) -> Decisions {
        var decisions = Decisions()
        guard limit > 0 else { return decisions }
        eventParsers.withParser { eventParser in
            forEachNotification(of: block, with: parser) { notification, event, payload throws(Rejection) in
                let decision: RouteTable.Decision? =
                    if let uniform, selection.filter == nil { uniform } else {
                        try routes.decision(
                            on: event, at: payload.place, matching: selection.filter, with: eventParser)
                    }
                guard let decision else { return true }
                if failures != nil {
                    let root = try eventParser.read(event: event, at: payload.place)
                    let selecting = failures?.selecting(root, from: source) ?? []
                    if let rejection = failures?.decide(selecting, at: payload.place) { throw rejection }
                }
                decisions.add(decision, of: notification, asJSON: asJSON)
                return decisions.tally.events < limit
            } rejected: {
                decisions.add($0)
            }
        }
        return decisions
    }

    /// The notifications selected by time and vendor, with the bytes of their events. The bytes are valid during the
    /// call only.
    private func forEachNotification(
        of block: ParallelReading.Block, with parser: JSONParser,
        _ take: (PushNotification, UnsafeBufferPointer<UInt8>, RecordedPayload) throws(Rejection) -> Bool,
        rejected: (Rejection) -> Void
    ) {
        var written = JSONWriter()
        forEachPayload(of: block, with: parser) { payload, common, id throws(Rejection) in
            written.removeAll()
            var notification = PushNotification(platform: .unknown)
            try normalizer.write(payload, in: common, id: id, with: parser, as: &notification, into: &written)
            guard selection.covers(vendor: notification.vendor) else { return true }
            return try written.withBytes { bytes throws(Rejection) in
                try ParserPool.check(eventOf: bytes.count, at: payload.place)
                return try take(notification, bytes.bindMemory(to: UInt8.self), payload)
            }
        } rejected: {
            rejected($0)
        }
    }

    /// The payloads selected by time, with the envelope and the id of their events. `take` returns false to end the
    /// block. The id is nil for a run without lasting ids. `offsets`: only payloads at these positions.
    private func forEachPayload(
        of block: ParallelReading.Block, at offsets: Set<Int>? = nil, with parser: JSONParser,
        _ take: (RecordedPayload, CloudEventEnvelope, EventID?) throws(Rejection) -> Bool,
        rejected: (Rejection) -> Void
    ) {
        let common = normalizer.envelope(of: Reception(from: source, at: Date(), vendor: vendor))
        let first = offsets?.min() ?? block.first
        block.payloads.forEachPayload(
            in: envelope, from: first, at: offsets, with: parser
        ) { payload throws(Rejection) in
            guard offsets?.contains(payload.place.offset) ?? true else { return true }
            if offsets == nil { wrapped?.examine(payload.text) }
            guard selection.covers(payload.time) else { return true }
            let id = identity?.eventID(input: block.input, offset: payload.place.offset, recorded: payload.time)
            return try take(payload, common, id)
        } rejected: {
            rejected($0)
            return true
        }
    }
}
