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
/// gets a reply. A value: a reload makes a new one. Callable from any task. Times of taps come from the device and
/// are not checked against the gateway's clock.
package struct InteractionIntake: Sendable {
    /// Maximum number of reports in one request.
    package static let batchLimit = 1000
    /// The CloudEvents `type` of reports.
    package static let eventType = "io.signalbox.interaction.received"
    /// Maximum size of the events of one request, in bytes. Counts bodies, payloads, variants and snoozed
    /// notifications of the request.
    package static let bytesLimit = 16 * 1024 * 1024
    /// A report repeats an equal report that is not older than this. Equal reports have the same event, action, text
    /// and device time, from any source.
    package static let repeatWindow: Duration = .seconds(7 * 86_400)

    private let gateway: String
    private let routes: RouteTable
    private let decider: TapDecider
    private let queue: any IntakeStore
    private let variants: EventVariants
    /// For the events about taps; snoozed notifications get their ids from the decider.
    private let ids = EventIDSource()
    private let parsers = ParserPool.events
    private let delayed: DelayedCall
    private let now: @Sendable () -> Date

    /// `gateway`: the name in every event's `source`. `decider`: acts on snoozes and calendars. `variants`: makes the
    /// variants of events that routes define. `queue`: finds the notifications and stores the events. `delayed`:
    /// schedules the deadline of each read. `now`: the wall clock; tests replace it.
    package init(
        gateway: String, routes: RouteTable, decider: TapDecider, queue: any IntakeStore, variants: EventVariants,
        delayed: DelayedCall = .onQueue, now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.gateway = gateway
        self.routes = routes
        self.decider = decider
        self.queue = queue
        self.variants = variants
        self.delayed = delayed
        self.now = now
    }

    /// An accepted report. Its events are on disk, unless ``duplicate`` is set. A repeated report has one too, with
    /// the event that it would have made.
    package struct Receipt: Sendable {
        /// The tap and the gateway's action on it.
        package let decided: DecidedTap
        /// The event about the tap; its followers include a snoozed notification.
        package let routed: RoutedEvent
        /// The id of the event of an equal earlier report; set if nothing was stored now.
        package var duplicate: String?
        /// The result of that earlier report, if this one would have another outcome now.
        package var former: FormerOutcome?
    }

    /// Why one report was rejected. Other reports of the same request are not affected.
    package enum Failure: Error, Sendable {
        /// Not JSON.
        case unreadable(Rejection)
        /// Valid JSON that is not a valid report, or one about an unknown event or action.
        case mistaken(InteractionMistake, at: PayloadPosition)

        /// Line and offset of the report in the body.
        package var place: PayloadPosition {
            switch self {
            case .unreadable(let rejection): rejection.place
            case .mistaken(_, let place): place
            }
        }
    }

    /// The results of one request's reports, in their order. The server turns each item into a part of its reply.
    package struct Report: Sendable {
        /// A receipt or the reason of the rejection.
        package let items: [Result<Receipt, Failure>]
        /// False if the body was exactly one report.
        package let isBatch: Bool
    }

    /// Accepts a body: one report, a JSON array of reports, or NDJSON. Accepted reports are durable when this returns.
    /// Throws if the request as a whole is rejected; nothing was stored then. The cases are
    /// ``Intake/Failure/tooManyInteractions``, ``Intake/Failure/tooManyDeliveries``,
    /// ``Intake/Failure/interactionsTooLarge`` and ``Intake/Failure/store(_:)``, the last one also for a disk that does
    /// not answer a read. A report that is mistaken becomes an item. `source`: the source of the reporting client,
    /// which need not be the source of the notification. Reports are decided one after another, each with one read of
    /// the queue. `trace`: of the request; nil for none.
    package func accept(
        _ body: [UInt8], from source: SourceName, trace: RequestTrace? = nil
    ) async throws(Intake.Failure) -> Report {
        let (read, isArray) = try read(body)
        var items: [Result<Receipt, Failure>] = []
        var bytes = 0
        var deliveries = RequestDeliveries()
        for item in read {
            switch item {
            case .failure(let failure): items.append(.failure(failure))
            case .success(let (interaction, place)):
                let receipt = try await receipt(of: interaction, from: source, trace).mapError {
                    Failure.mistaken($0, at: place)
                }
                // Small reports may snooze large notifications: without limits, a request could store gigabytes.
                if case .success(let receipt) = receipt {
                    bytes += receipt.routed.bytes
                    guard deliveries.admit(receipt.routed) else { throw .tooManyDeliveries }
                }
                guard bytes <= Self.bytesLimit || items.isEmpty else { throw .interactionsTooLarge }
                items.append(receipt)
            }
        }
        return Report(items: try await append(items, trace), isBatch: isArray || items.count > 1)
    }

    /// Parses all reports before any event is loaded. Stops at the first report beyond ``batchLimit``. `isArray`:
    /// whether the body is a JSON array, so an array with one report is a batch.
    private func read(
        _ body: [UInt8]
    ) throws(Intake.Failure) -> (items: [Result<(Interaction, PayloadPosition), Failure>], isArray: Bool) {
        var blocks = PayloadBlocks()
        blocks.append(body)
        blocks.finish()
        var items: [Result<(Interaction, PayloadPosition), Failure>] = []
        var isTooLong = false
        func add(_ item: Result<(Interaction, PayloadPosition), Failure>) -> Bool {
            isTooLong = items.count == Self.batchLimit
            if !isTooLong { items.append(item) }
            return !isTooLong
        }
        parsers.withParser { parser in
            _ = blocks.take().forEachText { text, place throws(Rejection) in
                do throws(JSONError) {
                    let read = try Interaction.read(text, with: parser)
                    return add(read.map { ($0, place) }.mapError { .mistaken($0, at: place) })
                } catch {
                    throw Rejection(error, in: text, at: place)
                }
            } rejected: { rejection in
                add(.failure(.unreadable(rejection)))
            }
        }
        if isTooLong { throw .tooManyInteractions }
        return (items, blocks.isArray)
    }

    // MARK: Events

    /// Loads the event, decides and routes. Throws for errors of the queue only; mistakes of the report are the
    /// failure. A calendar file is stored here, before the commit: after a failed commit it stays without an owner
    /// until retention removes it.
    private func receipt(
        of interaction: Interaction, from source: SourceName, _ trace: RequestTrace?
    ) async throws(Intake.Failure) -> Result<Receipt, InteractionMistake> {
        let stored: StoredEvent?
        do throws(StoreError) {
            stored = try await delayed.answer { [queue] () throws(StoreError) in
                try await queue.event(interaction.eventID)
            }
        } catch { throw .store(error) }
        do throws(InteractionMistake) {
            guard let stored else { throw .unknownEvent(interaction.eventID) }
            let tap = try Tap(interaction, on: Self.document(stored.body))
            let now = now()
            let decided = await decider.decide(tap, at: now)
            var followers: [RoutedEvent] = []
            if case .snoozed(_, let until, let id) = decided.outcome {
                followers = [try snoozed(stored, as: id, until: until, at: now)]
            }
            return .success(
                Receipt(decided: decided, routed: try routed(decided, from: source, at: now, with: followers, trace)))
        } catch { return .failure(error) }
    }

    /// Throws `tooLarge` for an event beyond the limits of events.
    private static func document(_ bytes: [UInt8]) throws(InteractionMistake) -> EventDocument {
        // The gateway wrote the event, so the only possible error is its size.
        guard let event = EventDocument(bytes) else { throw .tooLarge }
        return event
    }

    /// The event's identity for repeats is that of the tap, so a report sent twice within ``repeatWindow`` is stored
    /// once. The event has the subject and the kind of the notification. Throws `tooLarge` and `tooCostly`.
    private func routed(
        _ decided: DecidedTap, from source: SourceName, at now: Date, with followers: [RoutedEvent],
        _ trace: RequestTrace?
    ) throws(InteractionMistake) -> RoutedEvent {
        let id = ids.next(at: now)
        var json = JSONWriter(reservingCapacity: 1000)
        json.interaction(decided, id: id, source: "/signalbox/\(gateway)/\(source)", at: now, trace: trace)
        let notification = decided.tap.notification
        let event = Event(
            id: id, source: source, acceptedAt: now, vendor: VendorID(notification.vendor),
            kind: .init(rawValue: notification.kind) ?? .alert, warnings: [], subject: notification.subject,
            body: json.bytes)
        // One tap, whichever source reported it.
        let dedupe = RoutedEvent.Dedupe(
            key: hexadecimal(sha256(Array(decided.tap.interaction.identity.utf8))),
            since: now.addingTimeInterval(-(Self.repeatWindow / .seconds(1))), scope: .all)
        // The file is kept while a delivery of this event waits.
        var files: [MediaFile] = []
        if case .rendered(let file) = decided.outcome {
            files = [MediaFile(sha256: file.sha256, bytes: file.bytes, contentType: "text/calendar")]
        }
        return try route(
            event, adding: decider.destinations(for: decided.tap.action), files: files, dedupe: dedupe,
            followers: followers, about: decided.tap.interaction.eventID)
    }

    /// The snoozed notification as a new event, due at `until`, routed as the first one was. A snoozed event keeps
    /// its payload and its expiry, and has a new id. Variants are made again by the present routes. Deliveries have
    /// no order key. Warnings of the first event are part of its body and stay there.
    private func snoozed(
        _ stored: StoredEvent, as id: EventID, until: Date, at now: Date
    ) throws(InteractionMistake) -> RoutedEvent {
        let document = try Self.document(stored.body)
        var event = Event(
            id: id, source: stored.source, acceptedAt: now, vendor: .unknown, kind: .alert, warnings: [],
            subject: stored.subject, body: document.snoozed(as: id, at: now))
        event.payload = stored.payload
        event.notAfter = Normalizer.date(document.text("data", "schedule", "notAfter"))
        for variant in stored.variants where event.shown == nil {
            let variant = try Self.document(variant)
            // A route's transformation may have changed the payload as well.
            if variant.json("dataschema") != nil { event.shown = variant.json("data", "apns") }
        }
        let routed = try route(event)
        return routed.with(
            deliveries: routed.deliveries.map { delivery in
                var delivery = delivery
                delivery.notBefore = until
                // In order, it would block all later deliveries until then.
                delivery.orderKey = nil
                return delivery
            })
    }

    /// `destinations`: those that the config names for the action's type. Throws `tooCostly` if the routes take too
    /// much work.
    private func route(
        _ event: Event, adding destinations: [DestinationName] = [], files: [MediaFile] = [],
        dedupe: RoutedEvent.Dedupe? = nil, followers: [RoutedEvent] = [], about: String? = nil
    ) throws(InteractionMistake) -> RoutedEvent {
        try Self.document(event.body).withRoot { (root, _) throws(InteractionMistake) in
            do throws(RoutingTooCostly) {
                let decision = try routes.decide(root, adding: destinations, hasPayload: event.payload != nil)
                return RoutedEvent(
                    event, decision, in: root, variants: variants, files: files, dedupe: dedupe,
                    followers: followers, about: about)
            } catch { throw .tooCostly }
        }
    }

    /// One commit for all events of the request. Sets ``Receipt/duplicate`` for reports that repeat earlier ones.
    /// Receipts stay in the order of the reports. Throws ``Intake/Failure/store(_:)``; nothing is stored then, unless
    /// the error is ``StoreError/undecided(after:)``.
    private func append(
        _ items: [Result<Receipt, Failure>], _ trace: RequestTrace?
    ) async throws(Intake.Failure) -> [Result<Receipt, Failure>] {
        let events = items.compactMap { if case .success(let receipt) = $0 { receipt.routed } else { nil } }
        let result: AppendResult
        do throws(StoreError) {
            result = try await queue.append(events)
        } catch { throw .store(error) }
        guard case .appended(let duplicates) = result else { return items }
        variants.count(events, without: duplicates)
        trace?.recordCreation(of: events, without: duplicates)
        var (marked, positions) = (items, events.indices.makeIterator())
        for index in marked.indices {
            guard case .success(var receipt) = marked[index] else { continue }
            receipt.duplicate = positions.next().flatMap { duplicates[$0] }
            if let id = receipt.duplicate { receipt.former = await former(id, unless: receipt.decided.outcome) }
            marked[index] = .success(receipt)
        }
        return marked
    }

    /// Nil also if the event cannot be read: the commit has succeeded, so the request must not fail.
    private func former(_ id: String, unless outcome: TapOutcome) async -> FormerOutcome? {
        let event = try? await delayed.answer { [queue] () throws(StoreError) in try await queue.event(id) }
        return event.flatMap { EventDocument($0.body) }.flatMap { FormerOutcome($0, unless: outcome) }
    }
}

extension RoutedEvent {
    /// Size of everything that is stored for the event. Counts toward ``bytesLimit``.
    fileprivate var bytes: Int {
        event.body.count + (payload?.count ?? 0) + variants.reduce(0) { $0 + $1.count }
            + followers.reduce(0) { $0 + $1.bytes }
    }
}
