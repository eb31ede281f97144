import Foundation
import HTTPTypes
import Hummingbird
import SignalboxJSON
package import SignalboxNotification
package import SignalboxStore

/// What operators ask over HTTP: deliveries, destinations, figures. Nobody else may.
package struct OperationsAPI: Sendable {
    /// What a test of a destination brought.
    package struct Ping: Sendable {
        package let wasTaken: Bool
        /// HTTP, where there was an answer.
        package let status: Int?
        package let words: String

        package init(wasTaken: Bool, status: Int?, words: String) {
            self.wasTaken = wasTaken
            self.status = status
            self.words = words
        }
    }

    let queue: any InspectionStore
    private let access: AdminAccess
    private let destinations: [DestinationName]
    private let limited: Set<DestinationName>
    private let ping: @Sendable (DestinationName) async -> Ping

    /// `destinations`: those of the config. `limited`: those of them with a rate. `ping`: sends a test event past the queue.
    package init(
        queue: any InspectionStore, access: AdminAccess, destinations: [DestinationName], limited: Set<DestinationName>,
        ping: @escaping @Sendable (DestinationName) async -> Ping
    ) {
        self.queue = queue
        self.access = access
        self.destinations = destinations
        self.limited = limited
        self.ping = ping
    }

    static let endpoints = [
        Endpoint("/v1/deliveries", "GET, HEAD", parameters: ["state", "destination", "event", "limit", "cursor"]),
        Endpoint("/v1/deliveries/{id}", "GET, HEAD"), Endpoint("/v1/deliveries/{id}/retry", "POST"),
        Endpoint("/v1/deliveries/retry", "POST", parameters: ["state", "destination", "event"]),
        Endpoint("/v1/destinations", "GET, HEAD"), Endpoint("/v1/destinations/{name}/pause", "POST"),
        Endpoint("/v1/destinations/{name}/resume", "POST"), Endpoint("/v1/destinations/{name}/ping", "POST"),
        Endpoint("/metrics", "GET, HEAD"),
    ]

    /// `routes`: whose figures are on the page of metrics too.
    func add(to router: Router<GatewayRequestContext>, routes: RoutesAPI) {
        router.get("/v1/deliveries") { request, _ in try await list(request) }
        router.get("/v1/deliveries/{id}") { request, context in
            try await show(request, context.parameters.get("id") ?? "")
        }
        router.post("/v1/deliveries/{id}/retry") { request, context in
            try await retry(request, context.parameters.get("id") ?? "")
        }
        router.post("/v1/deliveries/retry") { request, _ in try await retryMany(request) }
        router.get("/v1/destinations") { request, _ in try await listDestinations(request) }
        for (word, state) in [("pause", DestinationState.Word.paused), ("resume", nil)] {
            router.post("/v1/destinations/{name}/\(word)") { request, context in
                try await set(state, request, context.parameters.get("name") ?? "")
            }
        }
        router.post("/v1/destinations/{name}/ping") { request, context in
            try await sendPing(request, context.parameters.get("name") ?? "")
        }
        router.get("/metrics") { request, _ in try await metrics(request, routes) }
    }

    // MARK: Deliveries

    private static let longestPage = 500

    private func list(_ request: Request) async throws -> Response {
        try access.check(request)
        var filter = try filter(request)
        let limit = try request.number("limit", in: 1...Self.longestPage) ?? 50
        if let cursor = try request.number("cursor", in: 1...Int.max) { filter.before = Int64(cursor) }
        let page = filter
        let (records, statuses) = try await asked { () throws(StoreError) in
            (try await queue.deliveries(page, limit: limit + 1), try await queue.statuses())
        }
        var json = JSONWriter()
        json.beginObject()
        json.key("deliveries")
        json.beginArray()
        for record in records.prefix(limit) { json.delivery(record, wait: wait(of: record, statuses)) }
        json.endArray()
        if records.count > limit {
            json.key("next")
            json.string(String(records[limit - 1].id))
        }
        json.endObject()
        return .json(.ok, json.bytes)
    }

    private func filter(_ request: Request) throws(Problem) -> DeliveryFilter {
        let query = request.uri.queryParameters
        var filter = DeliveryFilter()
        if let text = query["state"].map(String.init) {
            guard let state = DeliveryRecord.State(rawValue: text) else {
                let known = DeliveryRecord.State.allCases.map(\.rawValue).joined(separator: ", ")
                throw .badQuery("There is no state \(text): write one of \(known).")
            }
            filter.state = state
        }
        filter.destination = query["destination"].map { DestinationName(String($0)) }
        filter.event = query["event"].map(String.init)
        return filter
    }

    private func show(_ request: Request, _ text: String) async throws -> Response {
        try access.check(request)
        guard let id = Int64(text), let record = try await record(id) else { throw Problem.noDelivery(text) }
        let (attempts, statuses) = try await asked { () throws(StoreError) in
            (try await queue.attempts(of: id), try await queue.statuses())
        }
        var json = JSONWriter()
        json.delivery(record, wait: wait(of: record, statuses), attempts: attempts)
        return .json(.ok, json.bytes)
    }

    private func wait(of record: DeliveryRecord, _ statuses: [DestinationName: DestinationStatus]) -> DeliveryWait? {
        let name = record.destination
        return DeliveryWait(
            of: record,
            in: DeliveryWait.Circumstances(
                status: statuses[name], isKnown: destinations.contains(name), hasRate: limited.contains(name)),
            at: Date())
    }

    private func record(_ id: Int64) async throws(Problem) -> DeliveryRecord? {
        try await asked { () throws(StoreError) in
            try await queue.deliveries(DeliveryFilter(ids: [id]), limit: 1).first
        }
    }

    private func retry(_ request: Request, _ text: String) async throws -> Response {
        try access.check(request)
        try await request.requireNoBody()
        guard let id = Int64(text), try await record(id) != nil else { throw Problem.noDelivery(text) }
        let count = try await asked { () throws(StoreError) in try await queue.retry(DeliveryFilter(ids: [id])) }
        guard count == 1 else { throw Problem.notRetried(text) }
        return Self.count("due", 1)
    }

    /// Only the dead, unless the query says otherwise.
    private func retryMany(_ request: Request) async throws -> Response {
        try access.check(request)
        try await request.requireNoBody()
        var filter = try filter(request)
        filter.state = filter.state ?? .dead
        let chosen = filter
        return Self.count(
            "due", try await asked { () throws(StoreError) in try await queue.retry(chosen) })
    }

    // MARK: Destinations

    private func listDestinations(_ request: Request) async throws -> Response {
        try access.check(request)
        let (statuses, gauges) = try await asked { () throws(StoreError) in
            (try await queue.statuses(), try await queue.gauges())
        }
        var json = JSONWriter()
        json.beginObject()
        json.key("destinations")
        json.beginArray()
        for name in Set(destinations).union(gauges.keys).sorted() {
            json.beginObject()
            json.key("name")
            json.string(name.name)
            json.key("state")
            json.string(statuses[name]?.word ?? (destinations.contains(name) ? "active" : "unknown"))
            json.time("since", statuses[name]?.since)
            json.time("until", statuses[name]?.until)
            if let reason = statuses[name]?.reason {
                json.key("reason")
                json.string(reason)
            }
            json.key("waiting")
            json.integer(gauges[name]?.waiting ?? 0)
            json.key("dead")
            json.integer(gauges[name]?.dead ?? 0)
            json.time("oldestDue", gauges[name]?.oldestDue)
            json.endObject()
        }
        json.endArray()
        json.endObject()
        return .json(.ok, json.bytes)
    }

    private func set(_ word: DestinationState.Word?, _ request: Request, _ name: String) async throws -> Response {
        try access.check(request)
        try await request.requireNoBody()
        let destination = try known(name)
        let state = word.map { DestinationState($0, since: Date()) }
        try await asked { () throws(StoreError) in try await queue.set(state, of: destination) }
        var json = JSONWriter()
        json.beginObject()
        json.key("name")
        json.string(name)
        json.key("state")
        json.string(word?.rawValue ?? "active")
        json.endObject()
        return .json(.ok, json.bytes)
    }

    private func sendPing(_ request: Request, _ name: String) async throws -> Response {
        try access.check(request)
        try await request.requireNoBody()
        let result = await ping(try known(name))
        var json = JSONWriter()
        json.beginObject()
        json.key("taken")
        json.bool(result.wasTaken)
        if let status = result.status {
            json.key("status")
            json.integer(status)
        }
        json.key("detail")
        json.string(result.words)
        json.endObject()
        return .json(.ok, json.bytes)
    }

    private func known(_ name: String) throws(Problem) -> DestinationName {
        guard let destination = destinations.first(where: { $0.name == name }) else { throw .noDestination(name) }
        return destination
    }

    // MARK: Figures

    private func metrics(_ request: Request, _ routes: RoutesAPI) async throws -> Response {
        try access.check(request)
        let (statuses, gauges, media) = try await asked { () throws(StoreError) in
            (try await queue.statuses(), try await queue.gauges(), try await queue.mediaGauges())
        }
        let page = MetricsPage(
            gauges: gauges, statuses: statuses, destinations: destinations, media: media, routes: routes.figures,
            config: routes.status, now: Date())
        return Response(
            status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: page.text)))
    }

    // MARK: Answers

    /// Waits for the queue no longer than senders do.
    private func asked<T: Sendable>(
        _ work: @escaping @Sendable () async throws(StoreError) -> T
    ) async throws(Problem) -> T {
        let result = await DelayedCall.onQueue.result(within: StoreLimits.patience) {
            () async -> Result<T, StoreError> in
            do throws(StoreError) { return .success(try await work()) } catch { return .failure(error) }
        }
        switch result ?? .failure(.undecided(after: StoreLimits.patience)) {
        case .success(let value): return value
        case .failure(let error): throw .store(error)
        }
    }

    private static func count(_ name: StaticString, _ number: Int) -> Response {
        var json = JSONWriter()
        json.beginObject()
        json.key(name)
        json.integer(number)
        json.endObject()
        return .json(.ok, json.bytes)
    }
}
