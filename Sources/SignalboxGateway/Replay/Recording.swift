package import Foundation
package import SignalboxJSON
package import SignalboxNotification
package import SignalboxRouting

/// Reads blocks of a recording: what is selected of it, as events or as payloads. Callable from anywhere at once.
package struct Recording: Sendable {
    private let normalizer: Normalizer
    private let routes: RouteTable
    /// Where the routes decide the same about every event, none needs to be read for it.
    private let uniform: RouteTable.Decision?
    private let shaping: EventShaping
    private let source: SourceName
    private let vendor: VendorID?
    private let envelope: RecordedEnvelope
    private let selection: Selection
    private let identity: RunIdentity?
    private let now: @Sendable () -> Date
    private let eventParsers = ParserPool.forEvents()

    /// `vendor`: whose payloads the source hands in, where the config says so. `identity`: makes the ids of events; nil for
    /// ids that are new every time.
    package init(
        normalizer: Normalizer, routes: RouteTable, source: SourceName, vendor: VendorID?,
        envelope: RecordedEnvelope = RecordedEnvelope(), selection: Selection = Selection(),
        identity: RunIdentity? = nil, now: @escaping @Sendable () -> Date
    ) {
        self.normalizer = normalizer
        self.routes = routes
        uniform = routes.uniformDecision
        shaping = EventShaping(tokens: normalizer.tokens)
        self.source = source
        self.vendor = vendor
        self.envelope = envelope
        self.selection = selection
        self.identity = identity
        self.now = now
    }

    /// A stretch of one of the inputs.
    package struct Block: Sendable {
        package let payloads: PayloadBlock
        /// Position among the inputs, from 0.
        package let input: Int
        /// Bytes of the input before which payloads are passed over.
        package let first: Int

        package init(_ payloads: PayloadBlock, input: Int = 0, first: Int = 0) {
            self.payloads = payloads
            self.input = input
            self.first = first
        }
    }

    /// One text of a recording: what became of it.
    package struct Entry<Value: Sendable>: Sendable {
        package let place: Place
        package let recorded: Timestamp?
        package let value: Result<Value, Rejection>
    }

    /// The events that are selected, with their destinations, and what was rejected, in the order of the input.
    package func events(of block: Block, with parser: JSONParser) -> [Entry<RoutedEvent>] {
        var entries: [Entry<RoutedEvent>] = []
        eventParsers.withParser { eventParser in
            forEachEvent(of: block, with: parser) { event, payload throws(Rejection) in
                let routed = try routes.route(
                    event, at: payload.place, matching: selection.filter, hasLastingID: identity != nil,
                    with: eventParser, shaping: shaping)
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

    /// The payloads that are selected, as they came, and what was rejected, in the order of the input.
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

    /// Where at most so many events would go, in words or as JSON.
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
                preconditionFailure("An event was not read whose routes ask for it.")
            }
            decisions.add(decision, of: notification, asJSON: asJSON)
            return decisions.tally.events < limit
        } rejected: {
            decisions.add($0)
        }
        return decisions
    }

    /// What is selected, and its events as they would be delivered where they are read: for those who keep neither.
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

    /// Events of what is selected by time and vendor.
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

    /// What is selected by time, with what its event is to be made with.
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
