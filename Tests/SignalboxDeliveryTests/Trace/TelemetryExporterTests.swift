import Foundation
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Synchronization
import Testing

@testable import SignalboxGateway

/// The exporter against collectors on loopback.
@Suite(.timeLimit(.minutes(2))) struct TelemetryExporterTests {
    private let bench = CollectorBench()

    /// Runs an exporter with a collector that answers with `statuses` in order and repeats the last one. `spans`: the
    /// number of spans that are recorded before the exporter runs.
    private func run(
        _ statuses: [Int], spans: Int = 0, readings: (@Sendable () -> [MetricReading])? = nil,
        _ body: @escaping @Sendable (CollectorBench.Requests) async throws -> Void
    ) async throws {
        let count = CollectorBench.Requests.Count(statuses)
        try await ReceivingServer.run(answer: { _ in count.answer() }) { [bench] receiver in
            let requests = CollectorBench.Requests(receiver: receiver, clock: bench.clock, count: count)
            let exporter = try bench.exporter(to: receiver.url, readings: readings)
            bench.record(spans)
            try await bench.run(exporter) { try await body(requests) }
        }
    }

    /// Returns when the server is stopped.
    private static func silence() async -> Int {
        for await _ in AsyncStream<Int>.makeStream().stream {}
        return 200
    }

    private static let batch = (0..<SpanRing.batch).map(String.init)

    @Test func sendsSpansWithTheHeadersOfTheConfig() async throws {
        try await run([200], spans: 3) { requests in
            let message = try await requests.message()
            #expect(message.header("x-tenant") == "acme" && message.header("user-agent") == "signalbox/0")
            let request = try CollectedRequest(message)
            #expect(request.path == "/hooks/v1/traces" && request.names == ["0", "1", "2"])
        }
        #expect(bench.telemetry.counts.dropped(.spans) == 0 && bench.log.texts.isEmpty)
    }

    @Test func sendsLaterSpansAfterTheInterval() async throws {
        try await run([200], spans: 1) { [bench] requests in
            let request = try await requests.next()
            #expect(request.names == ["0"])
            bench.record(2)
            var names: [String] = []
            while names.count < 2 { names += try await requests.next().names }
            #expect(names == ["0", "1"])
        }
    }

    @Test func sendsFullBatchesOneAfterTheOther() async throws {
        try await run([200], spans: 2 * SpanRing.batch + 1) { requests in
            let request = try await requests.next()
            #expect(request.names == Self.batch)
            let second = try await requests.next()
            #expect(second.names.count == SpanRing.batch)
            let last = try await requests.next()
            #expect(last.names == ["\(2 * SpanRing.batch)"])
        }
    }

    @Test func aBatchIsRepeatedAfterAWaitFor429And503() async throws {
        try await run([429, 503, 200], spans: SpanRing.batch) { [bench] requests in
            for _ in 1...3 {
                let request = try await requests.next()
                #expect(request.names == Self.batch)
            }
            #expect(bench.clock.elapsed >= .seconds(1.5))
        }
        #expect(bench.telemetry.counts.dropped(.spans) == 0)
    }

    /// A reload, or a full batch, does not end the wait that the collector requested.
    @Test func aReloadDoesNotEndTheWaitOfACollector() async throws {
        try await run([429, 200], spans: SpanRing.batch, readings: nil) { [bench] requests in
            _ = try await requests.message()
            let begin = bench.clock.elapsed
            // The backoff after the first attempt is half a second at least.
            await bench.clock.waitForSleeper(atLeast: .milliseconds(400))
            bench.telemetry.apply(ratio: 0.5)
            bench.record(SpanRing.batch)
            let request = try await requests.next()
            #expect(request.names == Self.batch)
            #expect(bench.clock.elapsed - begin >= .milliseconds(400))
        }
    }

    @Test func aBatchIsDroppedAfter400And413() async throws {
        try await run([400, 413, 200], spans: 3 * SpanRing.batch) { [bench] requests in
            for _ in 1...3 {
                let request = try await requests.next()
                #expect(request.names.count == SpanRing.batch)
            }
            await bench.clock.step { bench.log.texts.count == 2 }
        }
        #expect(bench.telemetry.counts.dropped(.spans) == 2 * SpanRing.batch)
        let log = bench.log.texts.map { $0.split(separator: " ").dropFirst().joined(separator: " ") }
        #expect(
            log == [
                "warning Telemetry export failing. path=/v1/traces reason=\"answered 400\"\n",
                "notice Telemetry export recovered. path=/v1/traces\n",
            ])
    }

    @Test func theExporterKeepsABoundedNumberOfSpans() async throws {
        // The port was free a moment ago.
        let port = try await ReceivingServer.run { $0.address.port }
        let exporter = try bench.exporter(to: "http://127.0.0.1:\(port)")
        bench.record(SpanRing.capacity + 1000)
        #expect(bench.telemetry.waiting == SpanRing.capacity && bench.telemetry.counts.dropped(.spans) == 1000)
        try await bench.run(exporter) { [bench] in
            // The exporter drops the first batch after its last attempt.
            await bench.clock.step { bench.telemetry.counts.dropped(.spans) > 1000 }
            #expect(bench.clock.elapsed > .seconds(60))
        }
        // A stop drops the rest.
        #expect(bench.telemetry.counts.dropped(.spans) == SpanRing.capacity + 1000 && bench.telemetry.waiting == 0)
        #expect(bench.log.texts.count == 1)
    }

    @Test func sendsTheRestAtAStop() async throws {
        let count = CollectorBench.Requests.Count([200])
        try await ReceivingServer.run(answer: { _ in count.answer() }) { [bench] receiver in
            try await bench.run(try bench.exporter(to: receiver.url)) { bench.record(1000) }
            let names = try await receiver.next(count.value).flatMap { try CollectedRequest($0).names }
            #expect(names == (0..<1000).map(String.init))
        }
        #expect(bench.telemetry.counts.dropped(.spans) == 0 && bench.telemetry.waiting == 0)
    }

    @Test func aCollectorThatHangsDelaysAStopByABoundedTime() async throws {
        try await ReceivingServer.run(answer: { _ in await Self.silence() }) { [bench] receiver in
            let exporter = try bench.exporter(to: receiver.url)
            bench.record(SpanRing.batch + 1)
            try await bench.run(exporter) {
                _ = await receiver.next()
                exporter.stop()
                await bench.clock.step { bench.telemetry.counts.dropped(.spans) > 0 }
            }
        }
        #expect(bench.telemetry.counts.dropped(.spans) == SpanRing.batch + 1)
    }

    // MARK: Metrics

    private static func readings(_ value: Int) -> [MetricReading] {
        [MetricReading("signalbox_x_total", "X.", .counter, points: [(labels: [], value: .number(Double(value)))])]
    }

    /// The value of the only point of a request.
    private func value(_ request: CollectedRequest) throws -> Int {
        let sum = try #require(request.metrics.first?["sum"] as? [String: Any])
        let point = try #require((sum["dataPoints"] as? [[String: Any]])?.first)
        return try #require((point["asInt"] as? String).flatMap { Int($0) })
    }

    @Test func sendsMetricsAfterEachInterval() async throws {
        let reads = CollectorBench.Requests.Count([0])
        try await run(
            [200],
            readings: {
                _ = reads.answer()
                return Self.readings(reads.value)
            }
        ) { requests in
            for number in 1...3 {
                let request = try await requests.next()
                #expect(request.path == "/hooks/v1/metrics" && request.names == ["signalbox_x_total"])
                #expect(try value(request) == number)
            }
        }
    }

    @Test func countsPointsThatTheCollectorRejects() async throws {
        try await run([400, 503, 200], readings: { Self.readings(1) }) { requests in
            for _ in 1...3 { _ = try await requests.next() }
        }
        #expect(bench.telemetry.counts.dropped(.points) == 1)
    }

    @Test func sendsNoMetricsIfTheyAreSwitchedOff() async throws {
        try await run([200], spans: 1) { [bench] requests in
            let request = try await requests.next()
            #expect(request.path == "/hooks/v1/traces")
            bench.record(1)
            let later = try await requests.next()
            #expect(later.path == "/hooks/v1/traces")
        }
    }
}
