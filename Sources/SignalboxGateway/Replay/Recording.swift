package import Foundation
package import SignalboxJSON
package import SignalboxNotification
package import SignalboxRouting

/// Reads the selected payloads of a recording, block by block, as events or as payloads. Callable from any thread.
package struct Recording: Sendable {
    private let normalizer: Normalizer
    private let routes: RouteTable
    /// Set if the routes decide the same for every event: events then need not be parsed.
    private let uniform: RouteTable.Decision?
    private let variants: EventVariants
    private let source: SourceName
    private let vendor: VendorID?
    private let envelope: RecordedEnvelope
    private let selection: Selection
    private let identity: RunIdentity?
    private let now: @Sendable () -> Date
    private let eventParsers = ParserPool.forEvents()

    /// `vendor`: the vendor of all payloads, if the config names one. `identity`: derives the ids of events; nil for
    /// new ids.
    package init(
        normalizer: Normalizer, routes: RouteTable, source: SourceName, vendor: VendorID?,
        envelope: RecordedEnvelope = RecordedEnvelope(), selection: Selection = Selection(),
        identity: RunIdentity? = nil, now: @escaping @Sendable () -> Date
    ) {
        self.normalizer = normalizer
        self.routes = routes
        uniform = routes.uniformDecision
        variants = EventVariants(tokens: normalizer.tokens)
        self.source = source
        self.vendor = vendor
        self.envelope = envelope
        self.selection = selection
        self.identity = identity
        self.now = now
    }

    /// A part of one input.
    package struct Block: Sendable {
        package let payloads: PayloadBlock
        /// Index of the input, from 0.
        package let input: Int
        /// Payloads that begin before this offset are skipped.
        package let first: Int

        package init(_ payloads: PayloadBlock, input: Int = 0, first: Int = 0) {
            self.payloads = payloads
            self.input = input
            self.first = first
        }
    }

    /// The result of one recorded text.
    package struct Entry<Value: Sendable>: Sendable {
        package let place: Place
        package let recorded: Timestamp?
        package let value: Result<Value, Rejection>
    }

    /// The selected events with their deliveries, and the rejections, in the order of the input.
    package func events(of block: Block, with parser: JSONParser) -> [Entry<RoutedEvent>] {
        var entries: [Entry<RoutedEvent>] = []
        eventParsers.withParser { eventParser in
            forEachEvent(of: block, with: parser) { event, payload throws(Rejection) in
                let routed = try routes.route(
                    event, at: payload.place, matching: selection.filter, hasLastingID: identity != nil,
                    with: eventParser, variants: variants)
                if let routed {
                    entries.append(Entry(place: payload.place, recorded: payload.time, value: .success(routed)))
                }
                return true
            } rejected: {
                entries.append(Entry(place: $0.place, recorded: nil, value: .failure($0)))
            }
        }
        return entries
    }

    /// The selected payloads, unchanged, and the rejections, in the order of the input.
    package func payloads(of block: Block, with parser: JSONParser) -> [Entry<[UInt8]>] {
        var entries: [Entry<[UInt8]>] = []
        func take(_ payload: RecordedPayload) {
            entries.append(
                Entry(place: payload.place, recorded: payload.time, value: .success(Array(payload.text))))
        }
        func reject(_ rejection: Rejection) {
            entries.append(Entry(place: rejection.place, recorded: nil, value: .failure(rejection)))
        }
        guard selection.needsEvents else {
            block.payloads.forEachPayload(in: envelope, from: block.first, with: parser) { payload throws(Rejection) in
                guard selection.covers(payload.time) else { return true }
                _ = try normalizer.recognise(payload.text, at: payload.place, with: parser)
                take(payload)
                return true
            } rejected: {
                reject($0)
                return true
            }
            return entries
        }
        forEachNotification(of: block, reading: false, with: parser) { _, _, payload in
            take(payload)
            return true
        } rejected: {
            reject($0)
        }
        return entries
    }

    /// The routing decisions for at most `limit` events, as text or JSON.
    package func decisions(
        of block: Block, upTo limit: Int, asJSON: Bool, with parser: JSONParser
    ) -> Decisions {
        var decisions = Decisions()
        guard limit > 0 else { return decisions }
        forEachNotification(of: block, reading: uniform == nil, with: parser) {
            notification, event, payload throws(Rejection) in
            var decision = uniform
            if decision == nil, let event { decision = try routes.decision(on: event, at: payload.place) }
            guard let decision else {
                preconditionFailure("An event is parsed unless the decision is uniform.")
            }
            decisions.add(decision, of: notification, asJSON: asJSON)
            return decisions.tally.events < limit
        } rejected: {
            decisions.add($0)
        }
        return decisions
    }

    /// The selected notifications; with their parsed events if `isRead` or the filter needs them.
    private func forEachNotification(
        of block: Block, reading isRead: Bool, with parser: JSONParser,
        _ take: (PushNotification, _ event: JSONValue?, RecordedPayload) throws(Rejection) -> Bool,
        rejected: (Rejection) -> Void
    ) {
        let isRead = isRead || selection.filter != nil
        var written = JSONWriter()
        eventParsers.withParser { eventParser in
            forEachPayload(of: block, with: parser) { payload, common, id throws(Rejection) in
                written.removeAll()
                var notification = PushNotification(platform: .unknown)
                try normalizer.write(
                    payload, in: common, id: id, with: parser, as: &notification, into: &written)
                guard selection.covers(vendor: notification.vendor) else { return true }
                let event = try written.withBytes { bytes throws(Rejection) -> JSONValue? in
                    guard isRead else {
                        try ParserPool.check(eventOf: bytes.count, at: payload.place)
                        return nil
                    }
                    return try eventParser.read(event: bytes.bindMemory(to: UInt8.self), at: payload.place)
                }
                if let filter = selection.filter, let event, try !filter.selects(event, at: payload.place) {
                    return true
                }
                return try take(notification, event, payload)
            } rejected: {
                rejected($0)
            }
        }
    }

    /// The events selected by time and vendor.
    private func forEachEvent(
        of block: Block, with parser: JSONParser,
        _ take: (Event, RecordedPayload) throws(Rejection) -> Bool, rejected: (Rejection) -> Void
    ) {
        var json = JSONWriter()
        forEachPayload(of: block, with: parser) { payload, common, id throws(Rejection) in
            let event = try normalizer.event(payload, in: common, id: id, with: parser, by: &json)
            return selection.covers(vendor: event.vendor) ? try take(event, payload) : true
        } rejected: {
            rejected($0)
        }
    }

    /// The payloads selected by time, with the envelope and the id of their events.
    private func forEachPayload(
        of block: Block, with parser: JSONParser,
        _ take: (RecordedPayload, CloudEventEnvelope, EventID?) throws(Rejection) -> Bool,
        rejected: (Rejection) -> Void
    ) {
        let common = normalizer.envelope(of: Reception(from: source, at: now(), vendor: vendor))
        block.payloads.forEachPayload(in: envelope, from: block.first, with: parser) { payload throws(Rejection) in
            guard selection.covers(payload.time) else { return true }
            let id = identity?.eventID(input: block.input, offset: payload.place.offset, recorded: payload.time)
            return try take(payload, common, id)
        } rejected: {
            rejected($0)
            return true
        }
    }
}
