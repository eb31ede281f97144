import Foundation
import Logging
import SignalboxConfig
import SignalboxEgress
import SignalboxJSON
import SignalboxNotification
import SignalboxRouting
import SignalboxSQLite
import SignalboxServerTesting
import SignalboxStore
import SignalboxTesting
import Testing

@testable import SignalboxGateway

/// Forwarded pushes over a real queue, to a push service on loopback.
struct ForwardBench {
    static let mobile = SourceName("mobile")
    static let other = SourceName("other")
    static let body = Array(#"{"aps":{"alert":"Hello"}}"#.utf8)

    let passThrough: PassThrough
    let peer: PushServicePeer
    let queue: SQLiteQueue
    let tokens: TokenHash
    let http: OutboundHTTP
    let ledger: ForwardLedger

    /// `upstream`: further members of the option, of both sources. `peer`: arguments of the push service.
    static func run(
        _ upstream: String = #""mode": "tee""#, peer arguments: [String] = [],
        _ body: (ForwardBench) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let files = try await TestCertificates(in: directory)
            let identity = ["--certificate", files.path("good.pem"), "--key", files.path("server.key")]
            try await PushServicePeer.run(identity + arguments) { peer in
                let origin = "https://localhost:\(peer.port)"
                let hosts = #""apns": "\#(origin)", "fcm": "\#(origin)", "tls": {"ca": "\#(files.path("ca.pem"))"}"#
                let option = #""upstream": {\#(hosts), \#(upstream)}"#
                let text = """
                    {"gateway": {"name": "test"}, "sources": {
                      "mobile": {"auth": {"bearer": ["env:A"]}, \(option)},
                      "other": {"auth": {"bearer": ["env:B"]}, \(option)},
                      "plain": {"auth": {"bearer": ["env:C"]}}},
                     "destinations": {"crm": {"url": "https://crm.example/", "secret": "env:S"}},
                     "routes": [{"name": "answers", "match": {"type": ["io.signalbox.push.answered"]}, "to": ["crm"]}]}
                    """
                let routed = try RoutedConfig(Array(text.utf8))
                let queue = try SQLiteQueue(in: directory)
                let tokens = TokenHash(key: [UInt8](repeating: 7, count: 32))
                let http = OutboundHTTP(policy: AddressPolicy(allow: [try #require(AddressRange("127.0.0.0/8"))]))
                defer { http.stop() }
                var logger = Logger(label: "test")
                logger.logLevel = .critical
                let ledger = ForwardLedger(logger: logger)
                let listed = try SecretResolver(path: "routes.json", environment: [:]).forwardedTokens(routed.config)
                let passThrough = PassThrough(
                    routed.config, tokens: listed, http: http, routes: routed.routes,
                    variants: EventVariants(tokens: tokens), queue: queue, tokens: tokens, ledger: ledger)
                try await body(
                    ForwardBench(
                        passThrough: passThrough, peer: peer, queue: queue, tokens: tokens, http: http, ledger: ledger))
            }
        }
    }

    /// A device token whose pushes receive this status; 999 for no answer.
    static func token(_ status: Int) -> String { "\(status)" + String(repeating: "a", count: 61) }

    /// A push to APNs.
    static func push(
        _ status: Int = 200, id: String? = nil, from source: SourceName = mobile, credential: String = "TEAM KEY"
    ) -> ForwardedPush {
        var push = ForwardedPush(
            .apns, from: source, event: "01939b4e-7c1a-7d2e-9a54-0c8f6f1f3c11", path: "/3/device/" + token(status),
            body: body)
        push.headers = [("apns-topic", "com.example.app"), ("authorization", "bearer x.y.z")]
        if let id { push.headers.append(("apns-id", id)) }
        push.repeatKey = id
        push.credential = Array(credential.utf8)
        push.target = PushNotification.Target(topic: "com.example.app")
        return push
    }

    /// The status and the reason of the service's answer; "busy" or "store" without one.
    func answer(_ push: ForwardedPush) async -> String {
        switch await passThrough.forward(push) {
        case .verdict(let verdict):
            [verdict.outcome.rawValue, verdict.status.map(String.init), verdict.reason].compactMap { $0 }
                .joined(separator: " ")
        case .busy: "busy"
        case .store: "store"
        }
    }

    /// The bodies of the stored events, in the order of their acceptance.
    func events() async throws -> [[UInt8]] {
        let records = try await queue.deliveries(DeliveryFilter(), limit: 1_000).reversed()
        var bodies: [[UInt8]] = []
        for record in records { bodies.append(try #require(try await queue.eventRecord(record.event)?.body)) }
        for body in bodies { EventRecorder.record(body) }
        return bodies
    }
}
