import HTTPTypes
import Hummingbird
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxStore

/// What the gateway answers under one config.
struct GatewayHandlers: Sendable {
    let surface: GatewaySurface
    let alarm: QueueAlarm
    let budget: BodyBudget
    let readiness: Readiness

    static let endpoints =
        [
            Endpoint("/v1/notifications", "POST"), Endpoint("/v1/sources/{source}/notifications", "POST"),
            Endpoint("/v1/interactions", "POST"), Endpoint("/healthz", "GET, HEAD"), Endpoint("/readyz", "GET, HEAD"),
            Endpoint("/schemas/{file}", "GET, HEAD"),
        ] + OperationsAPI.endpoints + RoutesAPI.endpoints + CategoriesAPI.endpoints + MediaAPI.endpoints
    private static let methods: [HTTPRequest.Method] = [.get, .head, .post, .put, .delete, .patch, .options]

    func router() -> Router<GatewayRequestContext> {
        let router = Router(context: GatewayRequestContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: ProblemMiddleware())
        router.add(middleware: QueryMiddleware(Self.endpoints))
        router.post("/v1/notifications") { request, context in try await accept(request, from: nil, context.peer) }
        router.post("/v1/sources/{source}/notifications") { request, context in
            try await accept(request, from: context.parameters.get("source"), context.peer)
        }
        router.post("/v1/interactions") { request, context in
            try await withBody(of: request, from: nil, context.peer) {
                try await surface.interactions.accept($0, from: $1, alarm: alarm)
            }
        }
        router.get("/healthz") { _, _ in Self.status(.ok, "ok") }
        router.get("/readyz") { _, _ in
            switch await readiness.verdict() {
            case .ready: Self.status(.ok, "ready", failing: surface.operations.queue.health.failing)
            case .notReady(let error):
                Self.status(.serviceUnavailable, "the queue cannot be written", reason: Problem.words(error))
            }
        }
        router.get("/schemas/{file}") { _, context in try Self.schema(context.parameters.get("file") ?? "") }
        surface.operations.add(to: router, routes: surface.routes)
        surface.routes.add(to: router)
        surface.categories.add(to: router)
        surface.media.add(to: router)
        for endpoint in Self.endpoints {
            for method in Self.methods where !endpoint.allow.contains(method.rawValue) {
                router.on(endpoint.path, method: method) { _, _ -> Response in
                    throw Problem.methodNotAllowed(method.rawValue, allow: endpoint.allow)
                }
            }
        }
        return router
    }

    // MARK: Payloads

    private func accept(_ request: Request, from source: String?, _ peer: PeerAddress) async throws -> Response {
        try await withBody(of: request, from: source, peer) { body, source in
            try await accept(body, from: source, key: try IdempotencyKey(request.headers))
        }
    }

    /// Collects the body of a request that a source may send. `source`: the one that the path names.
    private func withBody(
        of request: Request, from source: String?, _ peer: PeerAddress,
        _ take: ([UInt8], SourceName) async throws -> Response
    ) async throws -> Response {
        if surface.access.isOpen, !request.head.isFromThisMachine { throw Problem.foreignPage }
        let source = try surface.access.source(named: source, authorization: request.headers[.authorization])
        return try await budget.withPurse(for: BodyHolder(source: source, peer: peer)) { purse in
            try await take(try await request.wholeBody(upTo: GatewayServer.bodyLimit, from: purse), source)
        }
    }

    private func accept(_ body: [UInt8], from source: SourceName, key: IdempotencyKey?) async throws -> Response {
        let repeatable = key.map { Intake.Repeatable(key: $0.text) { ReceiptReply($0).answer } }
        let answer = try await alarm.watching { () throws(Intake.Failure) in
            try await surface.intake.accept(body, from: source, as: repeatable)
        }
        let report: Intake.Report
        switch answer {
        case .report(let taken): report = taken
        case .repeated(let answer): return Response(answer, isRepeated: true)
        }
        // Only an append says that the queue works again.
        if report.items.contains(where: { if case .success = $0 { true } else { false } }) { alarm.silence() }
        guard report.isBatch || !report.items.isEmpty else { throw Problem.empty }
        if !report.isBatch, case .failure(let rejection)? = report.items.first { throw Problem(rejection) }
        return Response(ReceiptReply(report).answer)
    }

    // MARK: Everything else

    /// `failing`: upkeep that fails while events are still accepted and delivered.
    private static func status(
        _ status: HTTPResponse.Status, _ text: String, reason: String? = nil, failing: [StoreHealth.Upkeep] = []
    ) -> Response {
        var json = JSONWriter()
        json.beginObject()
        json.key("status")
        json.string(text)
        if let reason {
            json.key("reason")
            json.string(reason)
        }
        if !failing.isEmpty {
            json.key("failing")
            json.strings(failing.map(\.rawValue))
        }
        json.endObject()
        return .json(status, json.bytes)
    }

    private static func schema(_ file: String) throws(Problem) -> Response {
        guard file.hasSuffix("-1.json"), let text = EventSchema.text(named: String(file.dropLast(7))) else {
            throw .notFound("/schemas/\(file)")
        }
        return Response(
            status: .ok, headers: [.contentType: "application/schema+json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: text)))
    }
}
