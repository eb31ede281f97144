import HTTPTypes
import Hummingbird
package import Logging
import SignalboxGateway

/// A webhook endpoint for development. It answers every POST with the status that `receive` returns, and permits every
/// origin to send at any rate (CloudEvents, HTTP 1.1 Web Hooks for Event Delivery, 4.2).
package struct WebhookReceiver: NamedService {
    /// A request of a sender. Names of headers are compared in lower case.
    package struct Message: Sendable {
        /// The path of the request target, without its query.
        package let path: String
        /// `webhook-id`, and below it the other headers of the Standard Webhooks specification.
        package var id: String? { header("webhook-id") }
        /// Unix time in seconds, as text; not checked.
        package var timestamp: String? { header("webhook-timestamp") }
        /// Signatures with spaces between them, such as `v1,BASE64`.
        package var signature: String? { header("webhook-signature") }
        /// As it arrived, compressed if the request has a `content-encoding`.
        package let body: [UInt8]
        /// All headers, with their names in lower case.
        package let headers: [(name: String, value: String)]

        /// The value of a header; nil when there is none. `name`: in lower case. For a repeated header, the first
        /// value.
        package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
    }

    /// Awaited before the reply. Called at the same time for webhooks on different connections.
    private let receive: @Sendable (Message) async -> Int
    private let http: HTTPService
    /// Room for sixteen of the largest bodies. A webhook beyond it receives 503.
    private let budget = BodyBudget(bytes: 16 * Self.bodyLimit)
    /// The most bytes of one body, compressed or not. Sixteen such bodies may be in memory.
    private static let bodyLimit = 16 * 1024 * 1024

    /// `receive` returns the status to answer with. Accepts bodies of at most 16 MiB. `onListening` is called once.
    package init(
        address: ListenAddress, logger: Logger, onListening: @escaping @Sendable (ListenAddress) async -> Void,
        receive: @escaping @Sendable (Message) async -> Int
    ) {
        self.receive = receive
        http = HTTPService(address: address, logger: logger, budget: budget, onListening: onListening)
    }

    /// Serves until a graceful shutdown. Throws ``ListenError`` when the address is not available.
    package func run() async throws {
        let router = Router(context: GatewayRequestContext.self)
        router.add(middleware: ProblemMiddleware())
        router.post("/**") { request, context in try await answer(request, from: context.peer) }
        router.post("/") { request, context in try await answer(request, from: context.peer) }
        router.on("/**", method: .options) { request, _ in Self.permission(for: request) }
        router.on("/", method: .options) { request, _ in Self.permission(for: request) }
        try await http.run(router.buildResponder())
    }

    /// Permits any rate to the origin that asks. Without an origin, only lists the methods. The status is 200 in both
    /// cases.
    private static func permission(for request: Request) -> Response {
        var headers: HTTPFields = [.allow: "POST"]
        if let origin = request.headers[text: "webhook-request-origin"] {
            headers[text: "webhook-allowed-origin"] = origin
            headers[text: "webhook-allowed-rate"] = "*"
        }
        return Response(status: .ok, headers: headers)
    }

    /// Throws problems of the body. Waits for `receive`, which may delay the reply.
    private func answer(_ request: Request, from peer: PeerAddress) async throws -> Response {
        var reservation = BodyReservation(in: budget, for: BodyHolder(source: nil, peer: peer))
        let body = try await request.wholeBody(upTo: Self.bodyLimit, reserving: &reservation, takesEncoded: true)
        let message = Message(
            path: request.uri.path, body: body, headers: request.headers.map { ($0.name.canonicalName, $0.value) })
        return Response(status: .init(code: await receive(message)))
    }
}
