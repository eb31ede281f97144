import Foundation
package import Logging
import ServiceLifecycle
import SignalboxConfig
import SignalboxNotification

/// Sends spans and metrics to the collector of the active config. A collector that fails delays and loses telemetry
/// only: the flows never wait for it.
///
/// Spans leave in batches, one request at a time. A batch is repeated as ``ExportDecision`` allows, and counted as
/// dropped after that. Metrics are sums since the start, so a failed request is not repeated: the next one has newer
/// values of the same sums. At a stop, the rest is sent once within ``stopTime``.
package struct TelemetryExporter: NamedService {
    private let telemetry: Telemetry
    /// Nil while nothing is exported.
    private let collector: @Sendable () -> OTLPCollector?
    /// The present values of all metrics.
    private let readings: @Sendable () async -> [MetricReading]
    private let logger: Logger
    private let clock: any Clock<Duration>
    private let isStopping = Replaceable(false)
    /// End the waits that a collector requested, for a stop only: neither a reload nor full batches end them.
    private let stops = (spans: WakeUp(), points: WakeUp())
    private let start: Date

    /// How long a stop waits for the collector.
    static let stopTime: Duration = .seconds(2)

    /// `collector`: of the active config; read before every export. `readings`: called once for each export of
    /// metrics. `clock` sleeps. Spans are recorded from now on, if there is a collector.
    package init(
        _ telemetry: Telemetry, logger: Logger, clock: any Clock<Duration> = ContinuousClock(),
        collector: @escaping @Sendable () -> OTLPCollector?, readings: @escaping @Sendable () async -> [MetricReading]
    ) {
        self.telemetry = telemetry
        self.logger = logger
        self.clock = clock
        self.collector = collector
        self.readings = readings
        start = telemetry.now()
        telemetry.apply(ratio: collector()?.settings.ratio)
    }

    /// Runs until a graceful shutdown, and then for ``stopTime`` at most. Never throws. Stop it after the services
    /// whose spans it sends.
    package func run() async throws {
        await withGracefulShutdownHandler {
            await withDiscardingTaskGroup { signals in
                signals.addTask { await exportSpans() }
                signals.addTask { await exportMetrics() }
            }
        } onGracefulShutdown: {
            stop()
        }
    }

    /// Ends the waits, and after ``stopTime`` the requests in progress. Returns at once.
    func stop() {
        isStopping.replace(by: true)
        for wakeUp in [telemetry.spansWakeUp, telemetry.pointsWakeUp, stops.spans, stops.points] { wakeUp.wake() }
        let collector = collector()
        // Unstructured: a shutdown handler cannot wait. The task ends by itself and retains only the client.
        Task {
            do { try await clock.sleep(for: Self.stopTime) } catch { return }
            collector?.stop()
        }
    }

    // MARK: Spans

    /// The batch that is being sent; its attempts are those that failed.
    private struct Batch {
        let spans: [TraceSpan]
        var attempts = 0
    }

    private func exportSpans() async {
        let outage = Outage()
        var batch: Batch?
        var pause: Duration? = .zero
        while await (batch == nil ? telemetry.spansWakeUp : stops.spans).wait(atMost: pause, by: clock) {
            if isStopping.value { return await flush(batch, outage) }
            pause = await step(&batch, outage)
        }
    }

    /// Sends one batch. Returns the time until the next one; nil to wait for a collector.
    private func step(_ batch: inout Batch?, _ outage: Outage) async -> Duration? {
        guard let collector = collector() else {
            discard(&batch)
            return nil
        }
        var current = batch ?? Batch(spans: telemetry.beginExport())
        guard !current.spans.isEmpty else { return collector.settings.interval }
        current.attempts += 1
        switch await send(current, to: collector, outage) {
        case .retry(let wait, _):
            batch = current
            telemetry.setBackoff(true)
            return wait
        case .accepted(let rejected): telemetry.endExport(dropped: rejected)
        case .drop: telemetry.endExport(dropped: current.spans.count)
        }
        batch = nil
        telemetry.setBackoff(false)
        return telemetry.waiting >= SpanRing.batch ? .zero : collector.settings.interval
    }

    private func send(
        _ batch: Batch, to collector: OTLPCollector, timeout: Duration = OTLPCollector.timeout, _ outage: Outage
    ) async -> ExportDecision {
        let answer = await collector.post(collector.resource.traces(batch.spans), .traces, timeout: timeout)
        let decision = ExportDecision(
            answer, to: batch.spans.count, attempt: batch.attempts, now: telemetry.now(), random: .random(in: 0..<1))
        report(decision, of: .traces, outage)
        return decision
    }

    /// Sends the waiting spans once, as long as the collector accepts them. The others are counted as dropped.
    private func flush(_ batch: Batch?, _ outage: Outage) async {
        var batch = batch ?? Batch(spans: telemetry.beginExport())
        while !batch.spans.isEmpty {
            // The last attempt: it is not repeated.
            batch.attempts = ExportDecision.mostAttempts
            guard let collector = collector(),
                case .accepted(let rejected) = await send(batch, to: collector, timeout: Self.stopTime, outage)
            else { break }
            telemetry.endExport(dropped: rejected)
            batch = Batch(spans: telemetry.beginExport())
        }
        telemetry.endExport(dropped: batch.spans.count)
        telemetry.dropAll()
    }

    /// The config no longer names a collector.
    private func discard(_ batch: inout Batch?) {
        guard batch != nil else { return }
        batch = nil
        telemetry.setBackoff(false)
        telemetry.endExport(dropped: 0)
    }

    // MARK: Metrics

    private func exportMetrics() async {
        let outage = Outage()
        var pause: Duration?
        var isHeld = false
        while await (isHeld ? stops.points : telemetry.pointsWakeUp).wait(atMost: pause, by: clock) {
            isHeld = false
            guard let collector = collector(), collector.settings.metrics else {
                if isStopping.value { return }
                pause = nil
                continue
            }
            let timeout = isStopping.value ? Self.stopTime : OTLPCollector.timeout
            let wait = await sendMetrics(to: collector, timeout: timeout, outage)
            if isStopping.value { return }
            isHeld = wait > .zero
            pause = max(collector.settings.interval, wait)
        }
    }

    /// Sends the present values once. Returns the wait that the collector requests.
    private func sendMetrics(to collector: OTLPCollector, timeout: Duration, _ outage: Outage) async -> Duration {
        let readings = await readings()
        guard let body = collector.resource.metrics(readings, from: start, at: telemetry.now()) else { return .zero }
        let answer = await collector.post(body, .metrics, timeout: timeout)
        let count = readings.reduce(0) { $0 + $1.points.count }
        let decision = ExportDecision(answer, to: count, attempt: 1, now: telemetry.now(), random: .random(in: 0..<1))
        report(decision, of: .metrics, outage)
        switch decision {
        case .accepted(let rejected):
            telemetry.counts.drop(.points, rejected)
            return .zero
        case .drop:
            telemetry.counts.drop(.points, count)
            return .zero
        case .retry(let wait, _): return wait
        }
    }

    // MARK: Log

    /// Logs when exports begin to fail, and when they work again.
    private func report(_ decision: ExportDecision, of signal: OTLPCollector.Signal, _ outage: Outage) {
        switch decision {
        case .accepted:
            if outage.ends() { logger.notice("Telemetry export recovered.", metadata: ["path": "\(signal.rawValue)"]) }
        case .retry(_, let reason), .drop(let reason):
            guard outage.begins() else { return }
            logger.warning(
                "Telemetry export failing.", metadata: ["path": "\(signal.rawValue)", "reason": "\(reason)"])
        }
    }
}
