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

/// The FCM and Expo endpoints over a real queue, with a clock to move.
struct GoogleBench {
    let endpoints: ProviderEndpoints
    let queue: SQLiteQueue
    let state: ProviderState
    let tokens: GrantedTokens
    let clock: ManualDate

    /// Two sources: `mobile` with a service account, a server key, a project, a token of Expo and a bearer token;
    /// `other` with a server key, a project and a token of Expo.
    static let sources = """
        {"sources": {
          "mobile": {
            "auth": {"bearer": ["env:BEARER"]},
            "fcm": {"projects": ["demo"], "keys": ["env:KEY"], "serviceAccounts": [
              {"email": "sender@demo.iam.gserviceaccount.com", "keyId": "key-1", "publicKey": "env:PEM"}]},
            "expo": {"tokens": ["env:EXPO"]}},
          "other": {"fcm": {"projects": ["elsewhere"], "keys": ["env:OTHER"]}, "expo": {"tokens": ["env:OTHEREXPO"]}}
        }}
        """

    /// The source `mobile` may send `rate` pushes in a second, with a burst of as many.
    static func sources(perSecond rate: Int) -> String {
        sources.replacing("\"auth\": {", with: "\"limits\": {\"pushesPerSecond\": \(rate)}, \"auth\": {")
    }

    /// `config`: without its destinations; `{}` leaves access open.
    static func run(_ config: String = "{}", _ body: (GoogleBench) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            let normalizer = Normalizer(
                chain: VendorChain(), gateway: "demo", tokens: TokenHash(key: [UInt8](repeating: 7, count: 32)))
            let route = Route(name: "all", match: .everything, destinations: [DestinationName("crm")])
            let routed = try RoutedConfig(Array(config.utf8))
            let config = routed.config
            let rules = FailureRules()
            rules.replaceFile(by: routed.failures.map { PreparedFailure($0, hashedBy: normalizer.tokens) })
            let intake = Intake(
                normalizer: normalizer, routes: RouteTable(routes: [route]), queue: queue, sources: config.sources)
            let assertions = try Assertions()
            let resolver = SecretResolver(
                path: "routes.json",
                environment: [
                    "BEARER": "bearer-token", "KEY": "server-key", "OTHER": "other-key", "EXPO": "expo-token",
                    "OTHEREXPO": "other-expo",
                    "PEM": assertions.keys["first"] ?? "", "SECONDPEM": assertions.keys["foreign"] ?? "",
                ])
            let sources = try resolver.sourceTokens(config)
            let clock = ManualDate()
            clock.set(by: assertions.now.timeIntervalSince(clock.now))
            let state = ProviderState(logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            let tokens = GrantedTokens(key: [UInt8](repeating: 7, count: 32))
            let acceptance = PushAcceptance(
                admission: SourceAdmission(
                    usage: state.usage, limits: config.sourceLimits, now: { .uptimeNanoseconds(1) }),
                failures: PushFailures(rules: rules, intake: intake),
                store: PushStore(intake: intake, alarm: QueueAlarm(logger: Logger(label: "test"))), held: state.held)
            let endpoints = ProviderEndpoints(
                try ProviderSenders(config, by: resolver), sources: sources.isEmpty ? .open : SourceAccess(sources),
                acceptance, queue, state, granted: tokens, now: { clock.now })
            try await body(GoogleBench(endpoints: endpoints, queue: queue, state: state, tokens: tokens, clock: clock))
        }
    }

    static func request(
        _ method: String, _ target: String, _ headers: [(String, String)] = [], length: Int? = 0,
        authority: String? = "127.0.0.1:8080", isLoopback: Bool = true
    ) -> ProviderRequest {
        let parts = target.split(separator: "?", maxSplits: 1)
        return ProviderRequest(
            method: method, path: String(parts[0]), query: parts.count > 1 ? String(parts[1]) : nil,
            authority: authority, headers: headers.map { (name: $0.0, value: $0.1) }, bodyLength: length,
            connection: ProviderConnection(
                peer: PeerAddress(nil), address: "192.0.2.7", isLoopback: isLoopback))
    }

    /// The answer to a request, as a listener produces it. Nil for a path of another API.
    func answer(
        _ method: String, _ target: String, _ headers: [(String, String)] = [], body: [UInt8] = [],
        authority: String? = "127.0.0.1:8080", isLoopback: Bool = true
    ) async -> ProviderReply? {
        let request = Self.request(
            method, target, headers, length: body.count, authority: authority, isLoopback: isLoopback)
        switch endpoints.verdict(on: request) {
        case nil: return nil
        case .reply(let reply): return reply
        case .body(let reading):
            guard body.count <= reading.limit else { return reading.refusal(.tooLarge) }
            return await withCheckedContinuation { done in reading.handle(body) { done.resume(returning: $0) } }
        }
    }

    /// The answer to a POST.
    func post(
        _ target: String, _ body: String, _ headers: (String, String)..., authority: String? = "127.0.0.1:8080"
    ) async throws -> ProviderReply {
        try #require(await answer("POST", target, headers, body: Array(body.utf8), authority: authority))
    }

    /// The parsed events in the order of their acceptance, as JSON texts.
    func events() async throws -> [String] {
        var bodies: [[UInt8]] = []
        for record in try await queue.deliveries(DeliveryFilter(), limit: 1_000).reversed() {
            bodies.append(try #require(try await queue.eventRecord(record.event)?.body))
        }
        for body in bodies { EventRecorder.record(body) }
        return bodies.map { String(decoding: $0, as: UTF8.self) }
    }
}

/// The assertions and keys of `Fixtures/assertions.json`, which `Tests/make-provider-assertions.py` makes.
struct Assertions: Decodable {
    struct Case: Decodable, Sendable, CustomTestStringConvertible {
        let name: String
        let text: String
        /// The `error_description`; nil for an assertion that is accepted.
        let error: String?

        var testDescription: String { name }
    }

    let now: Date
    let keys: [String: String]
    let assertions: [Case]

    init() throws {
        let file = try #require(Bundle.module.url(forResource: "Fixtures/assertions", withExtension: "json"))
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        self = try decoder.decode(Assertions.self, from: Data(contentsOf: file))
    }

    subscript(_ name: String) -> String {
        guard let found = assertions.first(where: { $0.name == name }) else {
            preconditionFailure("There is no assertion \(name).")
        }
        return found.text
    }
}

extension ProviderReply {
    var text: String { String(decoding: body, as: UTF8.self) }

    /// A string at a JSON Pointer; nil if there is none.
    func string(_ pointer: String) -> String? {
        let parser = JSONParser()
        return withExtendedLifetime(parser) {
            guard let root = try? parser.parse(body) else { return nil }
            return JSONPointer(pointer)?.value(in: root)?.string
        }
    }
}
