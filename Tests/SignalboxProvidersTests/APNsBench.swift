import Foundation
import Logging
import NIOCore
import SignalboxConfig
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxRouting
import SignalboxSQLite
import SignalboxStore
import SignalboxTesting
import Testing

@testable import SignalboxServer

/// An APNs endpoint over a real queue, with a clock that stands still.
struct APNsBench {
    static let token = String(repeating: "0123456789abcdef", count: 4)
    static let path = "/3/device/" + token
    static let payload = #"{"aps":{"alert":"Hello"}}"#
    static let topic = ("apns-topic", "com.example.app")

    let endpoint: APNsEndpoint
    let queue: SQLiteQueue
    let tokens: ProviderTokens
    let log: RecordedLog
    let rules: FailureRules

    /// Two sources: `mobile` with two keys, a certificate and a secret, `other` with a key of another team. Both have
    /// topics.
    static let sources = """
        {"sources": {
          "mobile": {"apns": {
            "keys": [{"team": "TEAM000001", "key": "KEY0000001", "publicKey": "env:FIRST"},
                     {"team": "TEAM000001", "key": "KEY0000002", "publicKey": "env:SECOND"}],
            "certificates": [{"sha256": "\(String(repeating: "ab", count: 32))"}, {"uid": "com.example.app"}],
            "secrets": ["env:SECRET"], "topics": ["com.example.app"], STRICT "development": true}},
          "other": {"apns": {
            "keys": [{"team": "TEAM000002", "key": "KEY0000003", "publicKey": "env:THIRD"}],
            "topics": ["com.example.other"]}}
        }}
        """

    /// `strict`: the value of the option in the source `mobile`.
    static func sources(strict: String) -> String {
        sources.replacing("STRICT", with: strict.isEmpty ? "" : "\"strict\": \(strict),")
    }

    /// `config`: without its destinations. `held`: holds the answers that failure rules delay.
    static func run(
        _ config: String = "{}", held: HeldReplies = HeldReplies(), _ body: (APNsBench) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let tokens = try ProviderTokens()
            let queue = try SQLiteQueue(in: directory)
            let normalizer = Normalizer(
                chain: VendorChain(), gateway: "demo", tokens: TokenHash(key: [UInt8](repeating: 7, count: 32)))
            let route = Route(name: "all", match: .everything, destinations: [DestinationName("crm")])
            let routed = try RoutedConfig(Array(config.replacing("STRICT", with: "").utf8))
            let config = routed.config
            let rules = FailureRules()
            rules.replaceFile(by: routed.failures.map { PreparedFailure($0, hashedBy: normalizer.tokens) })
            let intake = Intake(
                normalizer: normalizer, routes: RouteTable(routes: [route]), queue: queue, sources: config.sources,
                now: { ProviderTokens.now })
            let secrets = SecretResolver(
                path: "routes.json",
                environment: [
                    "FIRST": tokens.keys["first"] ?? "", "SECOND": tokens.keys["second"] ?? "",
                    "THIRD": tokens.keys["third"] ?? "", "SECRET": "open-sesame",
                    "OTHER": "another",
                ])
            let log = RecordedLog()
            let endpoint = APNsEndpoint(
                try APNsSenders(config, by: secrets),
                PushAcceptance(
                    admission: SourceAdmission(
                        usage: SourceUsage(), limits: config.sourceLimits, now: { .uptimeNanoseconds(1) }),
                    failures: PushFailures(rules: rules, intake: intake, now: { ProviderTokens.now }),
                    store: PushStore(intake: intake, alarm: QueueAlarm(logger: log.logger)), held: held),
                channels: queue, failures: FailedProofs(logger: log.logger), now: { ProviderTokens.now })
            try await body(APNsBench(endpoint: endpoint, queue: queue, tokens: tokens, log: log, rules: rules))
        }
    }

    /// A connection of its own for each call.
    static func connection(_ certificate: ProviderConnection.ClientCertificate? = nil) -> ProviderConnection {
        ProviderConnection(
            peer: PeerAddress(nil), address: "192.0.2.7", isLoopback: true,
            certificate: certificate)
    }

    /// A request to the endpoint. `length`: nil for a body of unknown length.
    static func request(
        _ method: String = "POST", _ path: String = path, _ headers: [(String, String)],
        length: Int? = payload.utf8.count,
        authority: String? = nil, on connection: ProviderConnection? = nil
    ) -> ProviderRequest {
        ProviderRequest(
            method: method, path: path, query: nil, authority: authority,
            headers: headers.map { (name: $0.0, value: $0.1) }, bodyLength: length,
            connection: connection ?? Self.connection())
    }

    /// The answer, as a listener produces it.
    func answer(_ request: ProviderRequest, body: String = payload) async throws -> ProviderReply {
        switch try #require(endpoint.verdict(on: request)) {
        case .reply(let reply): return reply
        case .body(let reading):
            guard body.utf8.count <= reading.limit else { return reading.refusal(.tooLarge) }
            return await withCheckedContinuation { done in
                reading.handle(Array(body.utf8)) { done.resume(returning: $0) }
            }
        }
    }

    /// The answer to a push with these fields and the topic.
    func push(_ headers: [(String, String)] = [], path: String = path, body: String = payload) async throws
        -> ProviderReply
    {
        try await answer(
            Self.request("POST", path, [Self.topic] + headers, length: body.utf8.count), body: body)
    }

    /// Passes the parsed events, in the order of their acceptance, to `read`.
    func withEvents(_ read: ([JSONValue]) throws -> Void) async throws {
        let records = try await queue.deliveries(DeliveryFilter(), limit: 1_000).reversed()
        var bodies: [[UInt8]] = []
        for record in records { bodies.append(try #require(try await queue.eventRecord(record.event)?.body)) }
        for body in bodies { EventRecorder.record(body) }
        let parsers = bodies.map { _ in JSONParser() }
        try withExtendedLifetime(parsers) {
            try read(try zip(parsers, bodies).map { try $0.parse($1) })
        }
    }
}

extension ProviderReply {
    /// The reason of an error; empty for a success.
    var reason: String {
        let text = String(decoding: body, as: UTF8.self)
        guard text.hasPrefix(#"{"reason":""#), text.hasSuffix(#""}"#) else { return text }
        return String(text.dropFirst(11).dropLast(2))
    }

    /// Status and reason.
    var summary: String { body.isEmpty ? "\(status)" : "\(status) \(reason)" }

    func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}
