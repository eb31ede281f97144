import Foundation
import Logging
import SignalboxConfig
import SignalboxEgress
import SignalboxNotification
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Synchronization
import Testing

@testable import SignalboxGateway

/// An exporter with a collector on loopback and a clock that the test moves.
struct CollectorBench: Sendable {
    let telemetry = Telemetry()
    let clock = ManualClock()
    let log = Lines()
    /// Only the collectors of this test are stopped.
    private let http = OutboundHTTP(policy: AddressPolicy(allow: [AddressRange("127.0.0.0/8")].compactMap { $0 }))

    /// A class because the logger and the test share it.
    final class Lines: Sendable {
        private let all = Mutex<[String]>([])
        var texts: [String] { all.withLock { $0 } }
        func append(_ line: String) { all.withLock { $0.append(line) } }
    }

    /// `readings`: the values of metrics; nil exports traces only.
    func exporter(to url: String, readings: (@Sendable () -> [MetricReading])? = nil) throws -> TelemetryExporter {
        var options = GatewayConfig.Telemetry()
        options.endpoint = url
        options.serviceName = "test"
        options.metrics = readings != nil
        let resolver = SecretResolver(
            path: "routes.json", environment: ["OTEL_EXPORTER_OTLP_HEADERS": "x-tenant=acme"])
        let settings = try #require(try resolver.telemetry(options))
        let collector = OTLPCollector(settings, http: http, gateway: "test", version: "0")
        let logger = Logger(label: "test") { [log] _ in LineLogHandler { log.append($0) } }
        return TelemetryExporter(
            telemetry, logger: logger, clock: clock, collector: { collector }, readings: { readings?() ?? [] })
    }

    /// Records spans with names from 0 on.
    func record(_ count: Int) {
        for number in 0..<count {
            telemetry.record(TraceSpan(.root(), String(number), .server, from: Date(), to: Date()))
        }
    }

    /// Runs an exporter while `body` runs, then stops it as a shutdown does.
    func run<R: Sendable>(
        _ exporter: TelemetryExporter, _ body: @Sendable @escaping () async throws -> R
    ) async throws -> R {
        try await withThrowingTaskGroup(of: R?.self) { tasks in
            tasks.addTask {
                try await exporter.run()
                return nil
            }
            let result = try await body()
            exporter.stop()
            for try await _ in tasks {}
            return result
        }
    }
}

extension CollectorBench {
    /// The requests that a collector received.
    struct Requests: Sendable {
        let receiver: ReceivingServer
        let clock: ManualClock
        let count: Count

        /// Counts requests and answers them. A class because the server and the test share it.
        final class Count: Sendable {
            private let state: Mutex<(statuses: ArraySlice<Int>, count: Int, read: Int)>

            /// `statuses`: of the answers, the last one again and again.
            init(_ statuses: [Int]) { state = Mutex((statuses[...], 0, 0)) }

            var value: Int { state.withLock { $0.count } }
            var isUnread: Bool { state.withLock { $0.count > $0.read } }

            func answer() -> Int {
                state.withLock { state in
                    state.count += 1
                    return state.statuses.count > 1 ? state.statuses.removeFirst() : state.statuses.first ?? 200
                }
            }

            func read() { state.withLock { $0.read += 1 } }
        }

        /// The next request; moves the clock until it has arrived.
        func message() async throws -> WebhookReceiver.Message {
            await clock.step { count.isUnread }
            count.read()
            return try #require(await receiver.next().first)
        }

        func next() async throws -> CollectedRequest { try CollectedRequest(try await message()) }
    }
}

/// A request of an exporter, as a collector reads it.
struct CollectedRequest {
    let path: String
    let body: [String: Any]

    init(_ message: WebhookReceiver.Message) throws {
        path = message.path
        #expect(message.header("content-encoding") == "gzip")
        #expect(message.header("content-type") == "application/json")
        let bytes = try Decompression.gunzip(message.body, upTo: 16 << 20)
        OTLPRecorder.record(bytes, as: path == "/hooks/v1/traces" ? "traces" : "metrics")
        body = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    }

    /// The elements of the innermost array of a request.
    private func elements(_ outer: String, _ inner: String, _ items: String) -> [[String: Any]] {
        let resources = body[outer] as? [[String: Any]] ?? []
        let scopes = resources.flatMap { $0[inner] as? [[String: Any]] ?? [] }
        return scopes.flatMap { $0[items] as? [[String: Any]] ?? [] }
    }

    var spans: [[String: Any]] { elements("resourceSpans", "scopeSpans", "spans") }
    var metrics: [[String: Any]] { elements("resourceMetrics", "scopeMetrics", "metrics") }
    var names: [String] { (spans + metrics).compactMap { $0["name"] as? String } }
}
