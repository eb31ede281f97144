package import Foundation
import SignalboxEgress
import SignalboxJSON
package import SignalboxNotification
package import SignalboxRouting
package import SignalboxStore

/// Accepts reports of taps.
///
/// The flow: each report is parsed (`Interaction`) and its notification's event is loaded from the queue. `Tap` finds
/// the tapped action in it. ``TapDecider`` decides and acts: snooze, calendar file, or neither. The intake writes an
/// event about the tap, routes it, and commits all events of a request together. They are on disk before the sender
/// gets a reply.
package struct InteractionIntake: Sendable {
    /// Maximum number of reports in one request.
    package static let batchLimit = 1000
    /// The CloudEvents `type` of reports.
    package static let eventType = "io.signalbox.interaction.received"
    /// Maximum size of the events of one request, in bytes.
    package static let bytesLimit = 16 * 1024 * 1024
    /// A report repeats an equal report that is not older than this.
    package static let repeatWindow: Duration = .seconds(7 * 86_400)

    private let gateway: String
    private let routes: RouteTable
    private let decider: TapDecider
    private let queue: any IntakeStore
    private let variants: EventVariants
    private let ids = EventIDSource()
    private let parsers = ParserPool.forEvents()
    private let now: @Sendable () -> Date

    /// `gateway`: the name in every event's `source`.
    package init(
        gateway: String, routes: RouteTable, decider: TapDecider, queue: any IntakeStore, variants: EventVariants,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.gateway = gateway
        self.routes = routes
        self.decider = decider
        self.queue = queue
        self.variants = variants
        self.now = now
    }

    /// An accepted report.
    package struct Receipt: Sendable {
        package let decided: DecidedTap
        package let routed: RoutedEvent
        /// The id of the event of an equal earlier report; set if nothing was stored now.
        package var duplicate: String?
    }

    /// Why one report was rejected.
    package enum Failure: Error, Sendable {
        /// Not JSON.
        case unreadable(Rejection)
        case mistaken(InteractionMistake, at: Place)

        package var place: Place {
            switch self {
            case .unreadable(let rejection): rejection.place
            case .mistaken(_, let place): place
            }
        }
    }

    /// The results of one request's reports, in their order.
    package struct Report: Sendable {
        package let items: [Result<Receipt, Failure>]
        /// False if the body was exactly one report.
        package let isBatch: Bool
    }

    /// Accepts a body: one report, a JSON array of reports, or NDJSON. Accepted reports are durable when this returns.
    package func accept(_ body: [UInt8], from source: SourceName) async throws(Intake.Failure) -> Report {
        let (read, isArray) = try read(body)
        var items: [Result<Receipt, Failure>] = []
        var bytes = 0
        for item in read {
            switch item {
            case .failure(let failure): items.append(.failure(failure))
            case .success(let found):
                let receipt = try await receipt(of: found, from: source)
                // Small reports may snooze large notifications: without a limit, a request could store gigabytes.
                if case .success(let receipt) = receipt { bytes += receipt.routed.bytes }
                guard bytes <= Self.bytesLimit || items.isEmpty else { throw .interactionsTooLarge }
                items.append(receipt)
            }
        }
        return Report(items: try await append(items), isBatch: isArray || items.count > 1)
    }

    // MARK: Reading

    private struct Found {
        let interaction: Interaction
        let place: Place
    }

    private func read(_ body: [UInt8]) throws(Intake.Failure) -> ([Result<Found, Failure>], isArray: Bool) {
        var blocks = PayloadBlocks()
        body.withUnsafeBytes { blocks.append($0) }
        blocks.finish()
        let block = blocks.take()
        var items: [Result<Found, Failure>] = []
        var isTooLong = false
        func add(_ item: Result<Found, Failure>) -> Bool {
            isTooLong = items.count == Self.batchLimit
            if !isTooLong { items.append(item) }
            return !isTooLong
        }
        parsers.withParser { parser in
            _ = block.forEachText { text, place throws(Rejection) in
                add(try Self.read(text, at: place, with: parser))
            } rejected: { rejection in
                add(.failure(.unreadable(rejection)))
            }
        }
        if isTooLong { throw .tooManyInteractions }
        return (items, blocks.isArray)
    }

    private static func read(
        _ text: UnsafeBufferPointer<UInt8>, at place: Place, with parser: JSONParser
    ) throws(Rejection) -> Result<Found, Failure> {
        parser.reset()
        let value: JSONValue
        do throws(JSONError) {
            value = try parser.parse(text)
        } catch {
            throw Rejection(error, in: text, at: place)
        }
        do throws(InteractionMistake) {
            return .success(Found(interaction: try Interaction(value), place: place))
        } catch {
            return .failure(.mistaken(error, at: place))
        }
    }

    // MARK: Deciding

    private func receipt(
        of found: Found, from source: SourceName
    ) async throws(Intake.Failure) -> Result<Receipt, Failure> {
        let interaction = found.interaction
        let stored: StoredEvent?
        do throws(StoreError) {
            stored = try await queue.event(interaction.eventID)
        } catch {
            throw .store(error)
        }
        do throws(InteractionMistake) {
            guard let stored else { throw .unknownEvent(interaction.eventID) }
            let tap = try reading(stored.body) { (event) throws(InteractionMistake) in try Tap(interaction, on: event) }
            let now = now()
            let decided = await decider.decide(tap, at: now)
            var followers: [RoutedEvent] = []
            if case .snoozed(_, let until, let id) = decided.outcome {
                followers = [try returning(stored, as: id, until: until, at: now)]
            }
            let routed = try routed(decided, from: source, at: now, with: followers)
            return .success(Receipt(decided: decided, routed: routed))
        } catch {
            return .failure(.mistaken(error, at: found.place))
        }
    }

    /// Parses an event and passes it to `body`.
    private func reading<R>(
        _ bytes: [UInt8], _ body: (JSONValue) throws(InteractionMistake) -> R
    ) throws(InteractionMistake) -> R {
        try parsers.withParser { (parser) throws(InteractionMistake) in
            // The gateway wrote the event, so the only possible error is its size.
            guard let event = try? parser.parse(bytes) else { throw .tooLarge }
            return try body(event)
        }
    }

    // MARK: Events

    private func routed(
        _ decided: DecidedTap, from source: SourceName, at now: Date, with followers: [RoutedEvent]
    ) throws(InteractionMistake) -> RoutedEvent {
        let id = ids.next(at: now)
        var json = JSONWriter(reservingCapacity: 1000)
        json.interaction(decided, id: id, source: "/signalbox/\(gateway)/\(source)", at: now)
        let notification = decided.tap.notification
        let event = Event(
            id: id, source: source, acceptedAt: now, vendor: VendorID(notification.vendor),
            kind: .init(rawValue: notification.kind) ?? .alert, warnings: [], subject: notification.subject,
            body: json.bytes)
        return try reading(event.body) { (body) throws(InteractionMistake) in
            let destinations = decider.destinations(for: decided.tap.action)
            // One tap, whichever source reported it.
            let dedupe = RoutedEvent.Dedupe(
                key: hexadecimal(sha256(Array(decided.tap.interaction.identity.utf8))),
                since: now.addingTimeInterval(-(Self.repeatWindow / .seconds(1))), scope: .all)
            // The file is kept while a delivery of this event waits.
            var files: [MediaFile] = []
            if case .rendered(let file) = decided.outcome {
                files = [MediaFile(sha256: file.sha256, bytes: file.bytes, contentType: "text/calendar")]
            }
            return RoutedEvent(
                event, try decision(on: body, adding: destinations, hasPayload: false), in: body, variants: variants,
                files: files, dedupe: dedupe, followers: followers)
        }
    }

    private func decision(
        on event: JSONValue, adding destinations: [DestinationName], hasPayload: Bool
    ) throws(InteractionMistake) -> RouteTable.Decision {
        do throws(RoutingTooCostly) {
            return try routes.decide(event, adding: destinations, hasPayload: hasPayload)
        } catch {
            throw .tooCostly
        }
    }

    /// The snoozed notification as a new event, due at `until`, routed as the first one was.
    private func returning(
        _ stored: StoredEvent, as id: EventID, until: Date, at now: Date
    ) throws(InteractionMistake) -> RoutedEvent {
        let (bytes, notAfter) = try reading(stored.body) { (event) throws(InteractionMistake) in
            var json = JSONWriter(reservingCapacity: stored.body.count + 100)
            json.snoozed(event, id: id, at: now)
            return (json.bytes, event["data"]?["schedule"]?["notAfter"]?.string)
        }
        var event = Event(
            id: id, source: stored.source, acceptedAt: now, vendor: .unknown, kind: .alert, warnings: [],
            subject: stored.subject, body: bytes)
        event.payload = stored.payload
        event.notAfter = Normalizer.date(notAfter)
        for variant in stored.variants where event.shown == nil {
            event.shown = try reading(variant) { (event) throws(InteractionMistake) in
                // A route's transformation may have changed the payload as well.
                event["dataschema"] == nil ? nil : event["data"]?["apns"].map { JSONText($0) }
            }
        }
        let routed = try reading(bytes) { [event] (body) throws(InteractionMistake) in
            RoutedEvent(
                event, try decision(on: body, adding: [], hasPayload: event.payload != nil), in: body,
                variants: variants)
        }
        return routed.with(
            deliveries: routed.deliveries.map { delivery in
                var delivery = delivery
                delivery.notBefore = until
                // In order, it would block all later deliveries until then.
                delivery.orderKey = nil
                return delivery
            })
    }

    // MARK: Committing

    private func append(
        _ items: [Result<Receipt, Failure>]
    ) async throws(Intake.Failure) -> [Result<Receipt, Failure>] {
        var events: [RoutedEvent] = []
        var positions: [Int?] = []
        for item in items {
            guard case .success(let receipt) = item else {
                positions.append(nil)
                continue
            }
            positions.append(events.count)
            events.append(receipt.routed)
        }
        let result: AppendResult
        do throws(StoreError) {
            result = try await queue.append(events)
        } catch {
            throw .store(error)
        }
        guard case .appended(let duplicates) = result else { return items }
        variants.count(events, without: duplicates)
        return zip(items, positions).map { item, position in
            item.map { receipt in
                var receipt = receipt
                receipt.duplicate = position.flatMap { duplicates[$0] }
                return receipt
            }
        }
    }
}

extension RoutedEvent {
    /// Size of everything that is stored for the event.
    fileprivate var bytes: Int {
        event.body.count + (payload?.count ?? 0) + variants.reduce(0) { $0 + $1.count }
            + followers.reduce(0) { $0 + $1.bytes }
    }
}
