import HTTPTypes
import Hummingbird
package import Logging
import NIOCore
import ServiceLifecycle

/// A webhook endpoint for development: hands every POST to `receive` and answers as it says, and permits everybody who asks
/// to send as much as they like (CloudEvents, HTTP 1.1 Web Hooks for Event Delivery, 4.2).
package struct WebhookReceiver: Service {
    /// What a sender sent.
    package struct Message: Sendable {
        package let path: String
        package let id: String?
        package let timestamp: String?
        package let signature: String?
        /// As it came, compressed where `content-encoding` says so.
        package let body: [UInt8]
        /// All of them, names in lower case.
        package let headers: [(name: String, value: String)]

        /// The value of a header; nil when there is none.
        package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
    }

    private let receive: @Sendable (Message) async -> Int
    private let http: HTTPService
    private let budget = BodyBudget(bytes: 16 * Self.bodyLimit)
    private static let bodyLimit = 16 * 1024 * 1024

    /// `receive` returns the status to answer with.
    package init(
        address: ListenAddress, logger: Logger, onListening: @escaping @Sendable (ListenAddress) async -> Void,
        receive: @escaping @Sendable (Message) async -> Int
    ) {
        self.receive = receive
        http = HTTPService(address: address, logger: logger, budget: budget, onListening: onListening)
    }

    package func run() async throws {
        let router = Router(context: GatewayRequestContext.self)
        router.add(middleware: ProblemMiddleware())
        router.post("/**") { request, context in try await answer(request, from: context.peer) }
        router.post("/") { request, context in try await answer(request, from: context.peer) }
        router.on("/**", method: .options) { request, _ in Self.permission(for: request) }
        router.on("/", method: .options) { request, _ in Self.permission(for: request) }
        try await http.run(router.buildResponder())
    }

    private static func permission(for request: Request) -> Response {
        var headers: HTTPFields = [.allow: "POST"]
        if let origin = request.headers[.webhookRequestOrigin] {
            headers[.webhookAllowedOrigin] = origin
            headers[.webhookAllowedRate] = "*"
        }
        return Response(status: .ok, headers: headers)
    }

    private func answer(_ request: Request, from peer: PeerAddress) async throws -> Response {
        let body = try await budget.withPurse(for: BodyHolder(source: nil, peer: peer)) {
            try await request.wholeBody(upTo: Self.bodyLimit, from: $0, takesEncoded: true)
        }
        let message = Message(
            path: request.uri.path, id: request.headers[.webhookID], timestamp: request.headers[.webhookTimestamp],
            signature: request.headers[.webhookSignature], body: body,
            headers: request.headers.map { ($0.name.canonicalName, $0.value) })
        return Response(status: .init(code: await receive(message)))
    }
}

extension HTTPField.Name {
    // The names are constants that are valid, which the compiler cannot know.
    fileprivate static let webhookID = name("webhook-id")
    fileprivate static let webhookTimestamp = name("webhook-timestamp")
    fileprivate static let webhookSignature = name("webhook-signature")

    fileprivate static let webhookRequestOrigin = name("webhook-request-origin")
    fileprivate static let webhookAllowedOrigin = name("webhook-allowed-origin")
    fileprivate static let webhookAllowedRate = name("webhook-allowed-rate")

    private static func name(_ text: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(text) else { preconditionFailure("\(text) is no header name.") }
        return name
    }
}

// Services are named in logs; without this, everything that they hold would be.
extension WebhookReceiver: CustomStringConvertible {
    package var description: String { "WebhookReceiver" }
}
