import Foundation
import HTTPTypes
import Hummingbird
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxStore

/// Stored events, for operators. A value of one config.
struct EventsAPI: Sendable {
    /// Explains why deliveries wait, and knows the destinations.
    let operations: OperationsAPI
    /// Evaluates routes for stored events.
    let trials: RouteTrials
    /// Makes the form of an event that a destination receives.
    let orders: ManualOrders
    /// Makes the links to stored files.
    var links = MediaLinks(publicUrl: nil)

    /// The queue of the gateway; its reads see the last commit.
    private var queue: any InspectionStore { operations.queue }
    /// The time to evaluate the routes of one page.
    private static let longestRouting: Duration = .milliseconds(100)

    /// Newest first, 50 by default. A page that is not `complete` ended because the conditions matched too few of the
    /// events that one request examines, or because of the size of its events; `next` continues. Throws 400 for an
    /// invalid query, and 503 when the queue does not answer. Events that are accepted while a client pages do not
    /// shift the pages. An event has no member `routes` if its evaluation was left out.
    func list(_ call: Call, _ body: [UInt8] = []) async throws -> Response {
        let filter = try EventQuery.filter(call, body)
        let limit = try call.pageSize()
        try await requireKind(of: filter)
        let page = try await operations.delayed.reply { () throws(StoreError) in
            try await queue.eventPage(filter, limit: limit, examining: StoreLimits.scannedRows)
        }
        let routes = await routes(of: page.records)
        return .json { json in
            json.array("events", of: page.records) { json, record in
                json.event(record, routes: routes[record.id], hidesContent: call.hidesContent)
            }
            if let next = page.next { json.member("next", PageCursor.text(String(next), in: EventQuery.list)) }
            json.member("complete", page.isComplete)
        }
    }

    /// Throws 400 for a kind that no event can have. Without this check, a misspelled one would select no event.
    /// Vendors are not checked: events of an earlier config may have any.
    private func requireKind(of filter: EventFilter) async throws(Problem) {
        guard let kind = filter.kind, !EventQuery.kinds.contains(kind) else { return }
        let name = DestinationName(kind)
        if operations.destinations.contains(name) { return }
        let isKnown = try await operations.delayed.reply { () throws(StoreError) in try await queue.knows(name) }
        guard isKnown else {
            let known = EventQuery.kinds.joined(separator: ", ")
            throw .badQuery("Unknown kind \(kind.prefix(100)): write one of \(known), or the name of a destination.")
        }
    }

    /// The routes of the active config that match, by the id of the event. An event is missing if evaluating it takes
    /// too much work, or the events before it took ``longestRouting``.
    private func routes(of records: [EventRecord]) async -> [String: [String]] {
        var routes: [String: [String]] = [:]
        var slices = WorkSlices(upTo: Self.longestRouting)
        for record in records {
            guard await slices.advance() else { break }
            routes[record.id] = trials.routes(of: record.body)
        }
        return routes
    }

    /// One event with its deliveries, interactions and files, and the decision of each route of the active config.
    /// Throws 404 for an unknown id. The parts are read one after the other, so they may differ by a commit.
    func show(_ call: Call) async throws -> Response {
        let id = call.path("id")
        let (detail, statuses) = try await operations.delayed.reply { () throws(StoreError) in
            (try await EventDetail(id, in: queue) { trials.trial(of: $0) }, try await queue.statuses())
        }
        guard let detail else { throw Problem.noSuchEvent(id) }
        let now = Date()
        let body = [UInt8].json { json in
            json.event(detail, hidesContent: call.hidesContent, href: { links.href($0, now: now) }) {
                operations.wait(of: $0, statuses)
            }
        }
        return Response(Reply(status: .ok, body: body))
    }

    /// The payload as a file, with device tokens in clear. Throws 404 for an unknown event, 410 for a payload that was
    /// not kept, and ``Problem/contentHidden`` for an operator who may not read content. A browser saves it and does
    /// not show it.
    func payload(_ call: Call) async throws -> Response {
        let id = call.path("id")
        guard !call.hidesContent else { throw Problem.contentHidden }
        let (payload, _) = try await storedPayload(id)
        // An id of a stored event has letters, digits and hyphens only.
        let headers: HTTPFields = [.contentDisposition: "attachment; filename=\"\(id).json\""]
        var response = Response(
            Reply(status: .ok, headers: headers, contentType: "application/octet-stream", body: payload))
        response.headers[text: "x-content-type-options"] = "nosniff"
        return response
    }

    /// The stored payload of an event, and the event. Throws 404 and 410.
    func storedPayload(_ id: String) async throws(Problem) -> (payload: [UInt8], event: EventRecord) {
        let (record, payload) = try await operations.delayed.reply { () throws(StoreError) in
            (try await queue.eventRecord(id), try await queue.payload(ofEvent: id))
        }
        guard let record else { throw Problem.noSuchEvent(id) }
        guard let payload else { throw Problem.payloadGone }
        return (payload, record)
    }

    /// Makes one more delivery of the event, due at once, in the form that the destination received before or would
    /// receive. Throws 404 for an unknown event and for a destination that is not in the config, 409 while an earlier
    /// delivery waits for files, and 410 if the destination receives payloads and this one was not kept. A repeated
    /// request makes another delivery.
    func send(_ call: Call) async throws -> Response {
        let id = call.path("id")
        guard let name = call.query("destination") else {
            throw Problem.badQuery("destination is missing: name the destination to send the event to.")
        }
        guard let destination = operations.destinations.first(where: { $0.name == name }) else {
            throw Problem.noDestination(name)
        }
        let record = try await operations.delayed.reply { () throws(StoreError) in try await queue.eventRecord(id) }
        guard let record else { throw Problem.noSuchEvent(id) }
        let order: ManualDelivery
        do throws(Rejection) { order = try orders.order(for: record, to: destination) } catch { throw Problem(error) }
        let result = try await operations.delayed.reply { () throws(StoreError) in
            try await queue.send(order, as: call.action)
        }
        switch result {
        case .unknownEvent: throw Problem.noSuchEvent(id)
        case .awaitsMedia: throw Problem.sendAwaitsMedia
        case .payloadGone: throw Problem.payloadGone
        case .ordered(let delivery): return try await response(delivery, to: call)
        }
    }

    /// Reads the new delivery back, with the reason why it waits. An empty object if it was removed meanwhile.
    private func response(_ delivery: Int64, to call: Call) async throws -> Response {
        let (records, statuses) = try await operations.delayed.reply { () throws(StoreError) in
            (try await queue.deliveries(DeliveryFilter(ids: [delivery]), limit: 1), try await queue.statuses())
        }
        return .json { json in
            guard let record = records.first else { return }
            json.key("delivery")
            json.delivery(record, wait: operations.wait(of: record, statuses), hidesReply: call.hidesContent)
        }
    }
}
