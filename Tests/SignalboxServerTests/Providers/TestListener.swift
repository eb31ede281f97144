import Foundation
import Logging
import NIOCore
import ServiceLifecycle
import SignalboxNotification
import SignalboxServerTesting
import SignalboxTesting
import Synchronization
import Testing

@testable import SignalboxServer

/// A listener for providers with an endpoint of the tests: `/ok` answers 200 without a body, `/error` 400 with one,
/// `/goaway` ends the connection, `/late` answers 403 after a delay, `/hold` when the test says so, `/large` with
/// 32 MiB.
final class TestListener: Sendable {
    // A class because the connections and the test share it.
    let address: ListenAddress
    let budget: BodyBudget
    let table: ConnectionTable
    private let endpoint: TestEndpoint
    private let stopping: @Sendable () async -> Void

    private init(
        _ address: ListenAddress, _ serving: ProviderServing, _ endpoint: TestEndpoint,
        stop: @escaping @Sendable () async -> Void
    ) {
        self.address = address
        self.endpoint = endpoint
        budget = serving.budget
        table = serving.table
        stopping = stop
    }

    /// Begins the stop of the listener.
    func stop() async { await stopping() }

    /// The requests to `/hold` that wait.
    var heldCount: Int { endpoint.heldCount }

    /// Answers the requests to `/hold` so far.
    func release() { endpoint.release() }

    /// The results of a play of Tests/Providers, as they arrive: the lines in order, decoded.
    func play(
        _ name: String, authority: String? = nil, _ each: ((PlayLine) async throws -> Void)? = nil
    ) async throws -> [PlayLine] {
        let process = try RunningBinary(
            TestLibraries.python,
            [TestLibraries.root.path + "/Tests/Providers/frames.py", name, String(address.port)]
                + (authority.map { [$0] } ?? []))
        process.send(Data())
        var results: [PlayLine] = []
        for await line in process.output.stream {
            let result = PlayLine(text: line)
            results.append(result)
            try await each?(result)
        }
        let errors = await process.errors.text()
        #expect(await process.end() == 0, "\(errors)")
        return results
    }

    /// Runs a listener while `body` runs.
    static func run<R: Sendable>(
        limits: ProviderLimits = ProviderLimits(), tls: Replaceable<ProviderTLS?>? = nil, isProxy: Bool = false,
        budget: BodyBudget = BodyBudget(bytes: 64 << 20), handshakes: FailedHandshakes? = nil,
        _ body: @Sendable @escaping (TestListener) async throws -> R
    ) async throws -> R {
        let endpoint = TestEndpoint()
        let serving = ProviderServing(
            endpoints: { ProviderEndpoints(all: [endpoint]) }, budget: budget, limits: limits,
            handshakes: handshakes, table: ConnectionTable(capacity: 1000), mostConnections: 1016)
        let (addresses, listening) = AsyncStream.makeStream(of: ListenAddress.self)
        let listener = ListenerService(
            listener: ProviderListener(
                address: ListenAddress(host: "127.0.0.1", port: 0), tls: { tls?.value }, serving: serving,
                option: isProxy ? .proxy : .apns, onListening: { listening.yield($0) }))
        var logger = Logger(label: "listener")
        logger.logLevel = .critical
        let group = ServiceGroup(services: [listener], logger: logger)
        return try await withThrowingTaskGroup(of: R?.self) { tasks in
            tasks.addTask {
                try await group.run()
                return nil
            }
            tasks.addTask {
                for await address in addresses {
                    return try await body(
                        TestListener(address, serving, endpoint) { await group.triggerGracefulShutdown() })
                }
                return nil
            }
            while let result = try await tasks.next() {
                guard let result else { continue }
                endpoint.release()
                await group.triggerGracefulShutdown()
                return result
            }
            throw ListenerEnded()
        }
    }

    private struct ListenerEnded: Error {}
}

/// One result of a play: a JSON object.
struct PlayLine: Sendable {
    let text: String

    subscript(key: String) -> Any? {
        let object = try? JSONSerialization.jsonObject(with: Data(text.utf8))
        return (object as? [String: Any])?[key]
    }
}

extension [PlayLine] {
    /// The values of one key, strings as they are and others as sorted JSON.
    func texts(_ key: String) -> [String] {
        compactMap { line in
            if let text = line[key] as? String { return text }
            let data = line[key].flatMap {
                try? JSONSerialization.data(withJSONObject: $0, options: [.sortedKeys, .withoutEscapingSlashes])
            }
            return data.map { String(decoding: $0, as: UTF8.self) }
        }
    }
}

private struct ListenerService: Service {
    let listener: ProviderListener
    func run() async throws { await listener.run(try await listener.listen()) }
}

/// The Python of the reference libraries, which `make test` installs.
enum TestLibraries {
    static let python = root.appendingPathComponent(".build/test-venv/bin/python")

    /// The directory of the package. Paths in it keep their symbolic links: Python finds its libraries by its own path.
    static let root = (0..<4).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }
}

final class TestEndpoint: ProviderEndpoint {
    // A class because it collects the requests that wait.
    private let held = Mutex<[@Sendable (ProviderReply) -> Void]>([])

    var heldCount: Int { held.withLock(\.count) }

    /// Bytes of the answer to `/large`: more than the buffers of a connection take.
    static let large = 32 << 20

    func release() {
        let replies = held.withLock { held in
            defer { held = [] }
            return held
        }
        for reply in replies { reply(ProviderReply(status: 200)) }
    }

    private static func error(_ status: Int, _ reason: String, _ after: ProviderReply.After = .keep) -> ProviderReply {
        ProviderReply(status: status, body: Array(#"{"reason":"\#(reason)"}"#.utf8), after: after)
    }

    func service(of path: String) -> ProviderService? { path == "/certificate" ? .expo : .apnsPushes }

    func verdict(on request: ProviderRequest) -> ProviderVerdict? {
        let id = request.header("apns-id").map { [ProviderReply.Header(name: "apns-id", value: $0)] } ?? []
        let large = Self.error(413, "PayloadTooLarge")
        let busy = Self.error(503, "ServiceUnavailable")
        func body(_ handle: @escaping ProviderBody.Handler) -> ProviderVerdict {
            .body(ProviderBody(limit: 4096, refusal: { $0 == .busy ? busy : large }, source: nil, handle: handle))
        }
        switch request.path {
        case "/ok": return body { _, reply in reply(ProviderReply(status: 200, headers: id)) }
        case "/error": return body { _, reply in reply(Self.error(400, "BadDeviceToken")) }
        case "/goaway": return body { _, reply in reply(Self.error(403, "Bad", .goAway(debugData: Array("why".utf8)))) }
        case "/narrow": return body { _, reply in reply(Self.error(429, "Slow", .oneStream)) }
        case "/cut": return body { _, reply in reply(Self.error(400, "BadDeviceToken", .cut)) }
        case "/cut-ok": return body { _, reply in reply(ProviderReply(status: 200, headers: id, after: .cut)) }
        case "/late":
            var late = Self.error(403, "InvalidProviderToken")
            // Longer than the client takes for its next request on a busy machine.
            late.delay = .seconds(3)
            return .reply(late)
        case "/hold": return body { [self] _, reply in held.withLock { $0.append(reply) } }
        case "/large":
            return body { _, reply in
                reply(ProviderReply(status: 200, body: Array(repeating: UInt8(ascii: "x"), count: Self.large)))
            }
        case "/certificate":
            let certificate = request.connection.certificate
            let text = "\(certificate?.subjectUID ?? "-") \(certificate?.isIssuedByClientCA ?? false)"
            return .reply(ProviderReply(status: 200, body: Array(text.utf8)))
        default: return nil
        }
    }
}
