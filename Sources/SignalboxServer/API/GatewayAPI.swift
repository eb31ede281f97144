import HTTPTypes
import Hummingbird
import NIOCore
import SignalboxConfig
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxStore

/// Answers requests under one config. A reload makes another value. A request in progress continues with the value that
/// it began with.
struct GatewayAPI: Sendable {
    /// Fixed for the life of the router.
    let surface: GatewaySurface
    /// Shared with the direct responder.
    let notifications: NotificationsAPI
    /// Shared by all configs.
    let resources: ServerResources

    /// Observations of the gateway.
    var observed: ObservationAPI { ObservationAPI(observation: surface.observation) }
    /// The live view.
    var live: StreamAPI { StreamAPI(observation: surface.observation, streams: resources.streams) }

    /// Captures, with the hashes of the same config.
    var captures: CapturesAPI { CapturesAPI(log: resources.providers.captures, tokens: surface.tokens) }

    /// The log of actions.
    var actions: ActionsAPI {
        ActionsAPI(queue: surface.operations.queue, refusals: resources.refusals, delayed: surface.operations.delayed)
    }

    /// Changes of all deliveries that a filter selects.
    var bulk: BulkAPI { BulkAPI(operations: surface.operations, confirmations: surface.confirmations) }

    /// In-app messages under the same config.
    var inApp: InAppAPI { InAppAPI(flow: surface.inApp, sources: surface.sources, alarm: resources.alarm) }

    /// Other methods receive 404 from the router.
    private static let methods: [HTTPRequest.Method] = [.get, .head, .post, .put, .delete, .patch, .options]

    /// Registers every common method for each path, so that a wrong method receives 405 with `allow` instead of 404.
    /// Registration costs some milliseconds; it runs once per config. Query parameters are checked before the method
    /// and the access, so a misspelled one is reported to every client.
    func router() -> RouterResponder<GatewayRequestContext> {
        let router = Router(context: GatewayRequestContext.self)
        router.add(middleware: RequestTiming(counters: resources.counters, telemetry: surface.telemetry))
        router.add(middleware: ProblemMiddleware())
        // The group turns its own problems into responses, so that they have the fields of operators' responses.
        let operators = router.group().add(middleware: OperatorFields())
            .add(middleware: ProblemMiddleware<GatewayRequestContext>())
        var paths: Set<String> = []
        for path in Endpoint.all.map(\.path) where paths.insert(path).inserted {
            let endpoints = Endpoint.all.filter { $0.path == path }
            let allow = endpoints.map(\.allow).joined(separator: ", ")
            let isForOperators = endpoints.contains { $0.access.role != nil }
            let route = RouterPath(path)
            for method in Self.methods {
                let name = method == .head ? "GET" : method.rawValue
                let endpoint = endpoints.first { $0.method == name }
                let handler: @Sendable (Request, GatewayRequestContext) async throws -> Response = {
                    request, context in
                    let known = (endpoint?.parameters ?? endpoints.flatMap(\.parameters)).map(\.name)
                    if let query = request.uri.query { try Endpoint.check(query, known: known) }
                    guard let endpoint else { throw Problem.methodNotAllowed(request, allow: allow) }
                    return try await respond(to: Call(request: request, context: context), at: endpoint)
                }
                if isForOperators {
                    operators.on(route, method: method, use: handler)
                } else {
                    router.on(route, method: method, use: handler)
                }
            }
        }
        return router.buildResponder()
    }

    /// Records a change of memory after it has been made, and a refused change of a known operator.
    ///
    /// Checks the access first: a client without a token cannot make the gateway read its body. Releases the memory
    /// of the body when the response is ready. Throws problems of access and body; 400 for a body that the endpoint
    /// does not take. A source may hold only its part of the budget; see ``BodyHolder``. Bodies of POST requests to
    /// endpoints without one are rejected rather than ignored: a filter that was sent as a body would select
    /// everything.
    private func respond(to call: Call, at endpoint: Endpoint) async throws -> Response {
        var call = call
        call.operation = endpoint.operation
        if endpoint.operation != nil { call.details = ActionDetails() }
        do {
            let response = try await perform(&call, at: endpoint)
            if endpoint.operation?.isStored == false { try await actions.record(call.action) }
            if let operation = endpoint.operation, !call.isPreview {
                resources.counters.count(operation.name, isDone: true)
            }
            return response
        } catch let problem as Problem {
            if endpoint.access.isOfSources { surface.observation.refused(problem, of: call, at: endpoint) }
            await actions.refused(call, problem)
            if let operation = endpoint.operation, call.actor != nil {
                resources.counters.count(operation.name, isDone: false)
            }
            throw problem
        }
    }

    /// Checks the access and the head, then collects the body, then runs the handler. Sets the source and the actor of
    /// `call`, which the caller needs after a failure too.
    private func perform(_ call: inout Call, at endpoint: Endpoint) async throws -> Response {
        let source = try await check(endpoint.access, &call)
        guard let limit = endpoint.bodyLimit else {
            if call.request.method == .post { try await call.request.requireNoBody() }
            return try await answer(call, [], at: endpoint)
        }
        if let source { call.source = source }
        try endpoint.checkHead(self, call)
        var reservation = BodyReservation(
            in: resources.budget, for: BodyHolder(source: source, peer: call.context.peer))
        let body = try await call.request.wholeBody(upTo: limit, reserving: &reservation)
        return try await answer(call, body, at: endpoint)
    }

    /// A heavy request waits for its turn after its body is complete, so that slow clients do not occupy a turn.
    private func answer(_ call: Call, _ body: [UInt8], at endpoint: Endpoint) async throws -> Response {
        guard endpoint.work.isHeavy(call) else { return try await endpoint.handler(self, call, body) }
        return try await resources.reads.run { try await endpoint.handler(self, call, body) }
    }

    /// Returns the source of a request to an endpoint for sources; nil for all other endpoints. Sets the actor of a
    /// request to an endpoint for operators. Throws 401 or 403; records a wrong token, and may delay its answer.
    private func check(_ access: Endpoint.Access, _ call: inout Call) async throws(Problem) -> SourceName? {
        let head = call.request.head
        do throws(Problem) {
            return try check(access, head, &call)
        } catch {
            if error.status == .unauthorized, head.headerFields[.authorization] != nil {
                let address = call.context.channel.remoteAddress?.ipAddress ?? ""
                await resources.failedTokens.record(
                    at: access.role == nil ? .source : .operator, from: call.context.peer, address: address)
            }
            reportForeignPage(error, call, at: access)
            throw error
        }
    }

    /// Links are checked by their handler. `sourceOr` accepts the token of any source or of an operator; without
    /// sources it accepts requests from this machine.
    private func check(
        _ access: Endpoint.Access, _ head: HTTPRequest, _ call: inout Call
    ) throws(Problem) -> SourceName? {
        switch access {
        case .source(let right):
            let name = call.context.parameters.get("source")
            return try surface.sources.source(named: name, of: Credentials(head), for: right)
        case .role(let role):
            let found = try surface.operators.actor(of: head)
            // Set first: a refusal is recorded with its actor.
            call.actor = found
            try surface.browsers.check(head)
            try found.require(role)
        case .sourceOr(let role, let right):
            if !surface.sources.isOpen, let found = surface.operators.actor(by: Credentials(head)) {
                call.actor = found
                try surface.browsers.check(head)
                try found.require(role)
            } else {
                _ = try surface.sources.source(named: nil, of: Credentials(head), for: right)
            }
        case .link, .none: break
        }
        return nil
    }

    /// The operator and its role. For consoles and scripts that adapt to the role of their token. `content` tells
    /// whether the token may read texts, `open` whether the gateway needs no token.
    func whoami(_ call: Call) throws(Problem) -> Response {
        guard let actor = call.actor else { preconditionFailure("The endpoint requires an operator.") }
        return .json { json in
            json.member("name", actor.name)
            json.member("role", actor.role.rawValue)
            json.member("content", actor.readsContent)
            json.member("open", actor.isOpen)
            json.member("version", surface.version)
        }
    }

    // MARK: Health

    /// Does not touch the queue. Succeeds as long as the process answers, so a container is not restarted for a full
    /// disk.
    func health() -> Response { .json { $0.member("status", "ok") } }

    /// 503 while the queue cannot be written. Names upkeep that fails in the meantime. Answers within
    /// ``Readiness/patience``. Needs no credential, so the reason has no path of the data directory. `configsDiffer`
    /// appears once the nodes of a fleet have had different configs for longer than an update takes.
    func readiness() async -> Response {
        switch await resources.readiness.verdict() {
        case .ready:
            let queue = surface.operations.queue
            let failing = queue.health.failing.map(\.rawValue)
            let isDifferent = queue.fleet?.configsDifferFor.map { $0 >= FleetStatus.configGrace } ?? false
            return .json { json in
                json.member("status", "ready")
                // Upkeep that fails while events are still accepted and delivered.
                if !failing.isEmpty { json.member("failing", failing) }
                if isDifferent { json.member("configsDiffer", true) }
            }
        case .notReady(let error):
            return .json(.serviceUnavailable) { json in
                json.member("status", "the queue cannot be written")
                json.member("reason", Problem.description(of: error))
            }
        }
    }

    /// Made once: any client may request it.
    private static let configSchema = Array(ConfigSchema.text.utf8)

    /// Serves version 1 of the events' schemas, and the schema of configs as `routes.json`. Throws 404 for any other
    /// file. Needs no credential: the schemas are the same in every gateway of this version.
    func schema(_ call: Call) throws(Problem) -> Response {
        let file = call.path("file")
        let text =
            file == "routes.json"
            ? Self.configSchema
            : file.hasSuffix("-1.json") ? EventSchema.text(named: String(file.dropLast(7))) : nil
        guard let text else { throw .notFound("/schemas/\(file)") }
        return Response(Reply(status: .ok, contentType: "application/schema+json", body: text))
    }

    /// Without the metrics of the queue's contents while it cannot be read. The page is written for each request, from
    /// counts that are kept as they change. The format follows `accept`, the compression `accept-encoding`.
    func metrics(_ call: Call) async -> Response {
        let headers = call.request.headers
        let format = MetricFormat(accept: headers[.accept], encoding: headers[.acceptEncoding])
        let values = await metricValues()
        let page = MetricPage.bytes(of: values, isOpenMetrics: format.isOpenMetrics)
        var reply = Reply(status: .ok, contentType: format.contentType, body: format.isCompressed ? gzip(page) : page)
        reply.headers[.vary] = "accept, accept-encoding"
        if format.isCompressed { reply.headers[.contentEncoding] = "gzip" }
        return Response(reply)
    }

    /// The values of all metrics, for the page and for the exporter.
    func metricValues() async -> MetricValues {
        await surface.operations.metrics(
            surface, resources.providerValues, resources.failedTokens, server: resources.counters,
            streams: resources.streams.count)
    }

    /// The description of the API. Answers 304 when the client has it. Needs no credential: it is the same in every
    /// gateway of this version.
    func openAPI(_ call: Call) -> Response {
        Response(
            cacheable: OpenAPIDocument.text(version: surface.version), to: call.request, caching: "public, no-cache")
    }
}

/// Responses that are made of members, without a type of their own.
extension Response {
    /// A JSON object. Complete in memory before the response begins, so an error of `write` cannot cut the object
    /// off.
    static func json(_ status: HTTPResponse.Status = .ok, _ write: (inout JSONWriter) -> Void) -> Response {
        Response(Reply(status: status, body: .json { $0.object(write) }))
    }
}
