import Foundation
import SignalboxEgress
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Synchronization
import Testing

@testable import SignalboxGateway

/// The exporter against collectors on loopback. Numbers are those of the scenarios of observability.
@Suite(.timeLimit(.minutes(2))) struct TelemetryExporterTests {
    private let bench = CollectorBench()

    /// Runs `body` with a collector that answers with these statuses, the last one again and again.
    private func withCollector<R: Sendable>(
        _ statuses: [Int], readings: (@Sendable () -> [MetricReading])? = nil,
        _ body: @escaping @Sendable (ReceivingServer) async throws -> R
    ) async throws -> R {
        let rest = Mutex(statuses[...])
        return try await ReceivingServer.run(
            answer: { _ in rest.withLock { $0.count > 1 ? $0.removeFirst() : $0.first ?? 200 } }
        ) { receiver in
            try await bench.run(bench.exporter(to: receiver.url, readings: readings)) { try await body(receiver) }
        }
    }

    private static func request(_ receiver: ReceivingServer) async throws -> CollectedRequest {
        try CollectedRequest(try #require(await receiver.next().first))
    }

    private static let names = (0..<SpanRing.batch).map(String.init)

    @Test func sendsSpansAtTheEndOfTheInterval() async throws {
        try await withCollector([200]) { [bench] receiver in
            await bench.clock.waitForSleeper(until: .seconds(10))
            bench.record(3)
            bench.clock.advance(by: .seconds(10))
            let message = try #require(await receiver.next().first)
            #expect(message.header("x-tenant") == "acme" && message.header("user-agent") == "signalbox/0")
            let request = try CollectedRequest(message)
            #expect(request.path == "/hooks/v1/traces" && request.names == ["0", "1", "2"])
        }
        #expect(bench.telemetry.counts.dropped(.spans) == 0 && bench.log.texts.isEmpty)
    }

    @Test func sendsAFullBatchAtOnce() async throws {
        try await withCollector([200]) { [bench] receiver in
            await bench.clock.waitForSleeper(until: .seconds(10))
            bench.record(SpanRing.batch)
            #expect(try await Self.request(receiver).names == Self.names)
        }
    }

    @Test func scenario50WaitsAfter429() async throws {
        try await withCollector([429, 503, 200]) { [bench] receiver in
            await bench.clock.waitForSleeper(until: .seconds(10))
            bench.record(SpanRing.batch)
            var all = [try await Self.request(receiver).names]
            for _ in 1...2 {
                let sleeps = bench.clock.sleeps
                await bench.clock.step { bench.clock.sleeps > sleeps }
                all.append(try await Self.request(receiver).names)
            }
            #expect(all == [Self.names, Self.names, Self.names])
        }
        #expect(bench.telemetry.counts.dropped(.spans) == 0)
    }

    @Test func scenario50DropsAfter400() async throws {
        try await withCollector([400, 413, 200]) { [bench] receiver in
            await bench.clock.waitForSleeper(until: .seconds(10))
            for _ in 1...3 {
                bench.record(SpanRing.batch)
                #expect(try await Self.request(receiver).names == Self.names)
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

    @Test func scenario49KeepsABoundedNumberOfSpans() async throws {
        // The port was free a moment ago.
        let port = try await ReceivingServer.run { $0.address.port }
        let exporter = bench.exporter(to: "http://127.0.0.1:\(port)")
        bench.record(SpanRing.capacity + 1000)
        #expect(bench.telemetry.waiting == SpanRing.capacity && bench.telemetry.counts.dropped(.spans) == 1000)
        try await bench.run(exporter) { [bench] in
            // The first batch is given up after its last attempt.
            await bench.clock.step { bench.telemetry.counts.dropped(.spans) > 1000 }
            #expect(bench.clock.elapsed > .seconds(60))
        }
        // A stop drops the rest.
        #expect(bench.telemetry.counts.dropped(.spans) == SpanRing.capacity + 1000 && bench.telemetry.waiting == 0)
        #expect(bench.log.texts.count == 1)
    }

    @Test func sendsTheRestAtAStop() async throws {
        let requests = try await withCollector([200]) { [bench] receiver in
            await bench.clock.waitForSleeper(until: .seconds(10))
            bench.record(100)
            return receiver
        }
        #expect(try await Self.request(requests).names.count == 100)
        #expect(bench.telemetry.counts.dropped(.spans) == 0 && bench.telemetry.waiting == 0)
    }

    @Test func aCollectorThatHangsDelaysAStopByABoundedTime() async throws {
        let (silence, _) = AsyncStream.makeStream(of: Int.self)
        try await ReceivingServer.run(answer: { _ in await silence.first { _ in true } ?? 200 }) { [bench] receiver in
            let exporter = bench.exporter(to: receiver.url)
            try await bench.run(exporter) {
                await bench.clock.waitForSleeper(until: .seconds(10))
                bench.record(SpanRing.batch)
                _ = await receiver.next()
                exporter.stop()
                await bench.clock.step { bench.telemetry.counts.dropped(.spans) > 0 }
            }
        }
        #expect(bench.telemetry.counts.dropped(.spans) == SpanRing.batch)
    }

    // MARK: Metrics

    private static func readings(_ value: Double) -> [MetricReading] {
        [MetricReading("signalbox_x_total", "X.", .counter, points: [.init(labels: [], value: value)])]
    }

    @Test func sendsMetricsAfterEachInterval() async throws {
        let value = Atomic<Int>(0)
        try await withCollector([200], readings: { Self.readings(Double(value.add(1, ordering: .relaxed).newValue)) }) {
            [bench] receiver in
            for _ in 1...2 {
                await bench.clock.waitForSleepers(atMost: .seconds(10))
                bench.clock.advance(by: .seconds(10))
                let request = try await Self.request(receiver)
                #expect(request.path == "/hooks/v1/metrics" && request.names == ["signalbox_x_total"])
            }
        }
        // One more at the stop.
        #expect(value.load(ordering: .relaxed) == 3)
    }

    @Test func countsPointsThatTheCollectorRejects() async throws {
        try await withCollector([400, 503, 200], readings: { Self.readings(1) }) { [bench] receiver in
            for _ in 1...2 {
                await bench.clock.waitForSleepers(atMost: .seconds(10))
                bench.clock.advance(by: .seconds(10))
                _ = try await Self.request(receiver)
            }
        }
        #expect(bench.telemetry.counts.dropped(.points) == 1)
    }

    @Test func sendsNoMetricsIfTheyAreSwitchedOff() async throws {
        try await withCollector([200]) { [bench] receiver in
            await bench.clock.waitForSleeper(until: .seconds(10))
            bench.record(1)
            bench.clock.advance(by: .seconds(10))
            #expect(try await Self.request(receiver).path == "/hooks/v1/traces")
        }
    }
}
