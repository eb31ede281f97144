import HTTPTypes
import Hummingbird
package import Logging
import NIOCore
import ServiceLifecycle
import SignalboxNotification
package import SignalboxStore

/// The gateway's HTTP side.
package struct GatewayServer: Service {
    /// Largest request body in bytes.
    package static let bodyLimit = 8 * 1024 * 1024

    /// Most that all request bodies together may hold in memory, in bytes.
    private static let bodyBudget = 256 * 1024 * 1024

    private let alarm: QueueAlarm
    private let budget = BodyBudget(bytes: Self.bodyBudget)
    private let readiness: Readiness
    private let http: HTTPService
    private let address: ListenAddress
    private let offer: Replaceable<Offer>

    /// `probe`: why the queue cannot accept events; nil when it can. `onListening` is called once with the address in use.
    package init(
        _ surface: GatewaySurface, address: ListenAddress, logger: Logger,
        probe: @escaping @Sendable () async -> StoreError?,
        onListening: @escaping @Sendable (ListenAddress) async -> Void
    ) {
        precondition(!surface.access.isOpen || address.isLoopback, "Open access is for loopback only.")
        alarm = QueueAlarm(logger: logger)
        readiness = Readiness { await probe().map { .notReady($0) } ?? .ready }
        http = HTTPService(address: address, logger: logger, budget: budget, onListening: onListening)
        self.address = address
        offer = Replaceable(Offer(surface, number: 1, alarm: alarm, budget: budget, readiness: readiness))
    }

    package func run() async throws {
        let offer = offer
        let direct = DirectResponder(bodyLimit: DirectIntake.bodyLimit) {
            offer.value.direct.sender(of: $0)
        } respond: {
            offer.value.direct.respond(to: $0, on: $1)
        }
        do {
            try await http.run(ReplaceableResponder(current: offer), direct: direct)
        } catch {
            await offer.value.direct.finish()
            throw error
        }
        // Their connections are closed; what they brought may be under way all the same.
        await offer.value.direct.finish()
    }

    /// Offers something else from now on. Requests that are under way end as they began.
    package func replace(by surface: GatewaySurface) {
        precondition(!surface.access.isOpen || address.isLoopback, "Open access is for loopback only.")
        let number = offer.value.direct.number + 1
        offer.replace(by: Offer(surface, number: number, alarm: alarm, budget: budget, readiness: readiness))
    }
}

/// What answers under one config.
private final class Offer: Sendable {
    // A class because every request asks for it: a copy of all that it holds would cost more than some of the answers.
    let router: RouterResponder<GatewayRequestContext>
    let direct: DirectIntake

    /// `number`: of the config, counted.
    init(_ surface: GatewaySurface, number: Int, alarm: QueueAlarm, budget: BodyBudget, readiness: Readiness) {
        let handlers = GatewayHandlers(surface: surface, alarm: alarm, budget: budget, readiness: readiness)
        router = handlers.router().buildResponder()
        direct = DirectIntake(number: number, surface: surface, alarm: alarm, budget: budget)
    }
}

/// Answers by whatever answers now.
private struct ReplaceableResponder: HTTPResponder {
    let current: Replaceable<Offer>

    func respond(to request: Request, context: GatewayRequestContext) async throws -> Response {
        try await current.value.router.respond(to: request, context: context)
    }
}

extension SourceAccess {
    /// True when nobody needs a token.
    package var isOpen: Bool { tokens.isEmpty }
}

extension Response {
    /// `isRepeated`: to a request that was answered so before.
    init(_ answer: StoredAnswer, isRepeated: Bool = false) {
        self = .json(HTTPResponse.Status(code: answer.status), answer.body)
        if isRepeated, let name = HTTPField.Name("idempotency-replayed") { headers[name] = "true" }
    }

    static func json(_ status: HTTPResponse.Status, _ bytes: [UInt8]) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}

// Services are named in logs; without this, everything that they hold would be.
extension GatewayServer: CustomStringConvertible {
    package var description: String { "GatewayServer" }
}
