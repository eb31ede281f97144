package import Foundation
import Synchronization

/// Decides which requests are traced, and holds ended spans until ``TelemetryExporter`` has sent them. Safe to call
/// from any thread.
///
/// A class because all flows share it; it outlives a reload of the config.
package final class Telemetry: Sendable {
    /// The settings that every request reads.
    private let isOn = Atomic<Bool>(false)
    /// The part of new traces that are sampled, as a threshold for a random number of 32 bits.
    private let threshold = Atomic<UInt64>(0)
    private let ring = Mutex(SpanRing())
    private let exporterBacksOff = Atomic<Bool>(false)
    /// Bounds the spans of requests without access.
    private let refusals = AtomicBucket(perSecond: 10)
    private let clock = ObservationClock.system
    /// Wakes the exporter of spans when a batch is full, and when export is switched on.
    let spansWakeUp = WakeUp()
    /// Wakes the exporter of metrics when export is switched on.
    let pointsWakeUp = WakeUp()
    /// Values that were not exported.
    package let counts: DropCounts
    /// The wall clock, for times of spans.
    let now: @Sendable () -> Date

    /// Records no span until ``apply(ratio:)`` switches it on. `counts`: receives the values that are not exported.
    package init(counts: DropCounts = DropCounts(), now: @escaping @Sendable () -> Date = { Date() }) {
        (self.counts, self.now) = (counts, now)
    }

    /// Applies the settings of a config. `ratio`: the part of requests without a trace that begin one, 0 to 1; nil if
    /// spans are not exported. Without export, waiting spans are forgotten.
    package func apply(ratio: Double?) {
        isOn.store(ratio != nil, ordering: .relaxed)
        threshold.store(UInt64(min(max(ratio ?? 0, 0), 1) * 0x1p32), ordering: .relaxed)
        if ratio == nil {
            ring.withLock { $0.removeAll() }
        } else {
            spansWakeUp.wake()
            pointsWakeUp.wake()
        }
    }

    /// True if spans are exported.
    package var isExporting: Bool { isOn.load(ordering: .relaxed) }

    /// The trace of a request; nil for a request without one. A valid `traceparent` continues its trace, which is
    /// recorded if its sender samples it. For every other request the gateway's own ratio decides. `state`: read only
    /// if the header is valid.
    package func trace(traceparent: String?, state: @autoclosure () -> String?) -> RequestTrace? {
        if let traceparent, let parent = TraceContext(traceparent) {
            let isRecorded = parent.isSampled && isExporting
            return RequestTrace(
                parent: parent, state: state().flatMap { TraceState($0) }, telemetry: isRecorded ? self : nil, at: now()
            )
        }
        let threshold = threshold.load(ordering: .relaxed)
        guard threshold > 0, UInt64(UInt32.random(in: 0 ... .max)) < threshold else { return nil }
        return RequestTrace(telemetry: self, at: now())
    }

    /// True if the span of a request without access may be recorded: ten of them a second.
    func admitsRefusal() -> Bool { refusals.take(at: clock.nanoseconds()) }

    /// Keeps an ended span for the exporter, or counts it as dropped. Never waits.
    func record(_ span: TraceSpan) {
        guard isExporting else { return }
        let (count, isDropped) = ring.withLock { ring in
            let dropped = ring.dropped
            ring.append(span)
            return (ring.count, ring.dropped > dropped)
        }
        if isDropped { counts.drop(.spans, 1) }
        if count >= SpanRing.batch, !exporterBacksOff.load(ordering: .relaxed) { spansWakeUp.wake() }
    }

    // MARK: Exporting

    /// The number of spans that wait.
    var waiting: Int { ring.withLock { $0.count } }

    /// Takes the oldest spans for one request. One caller at a time, which calls ``endExport(dropped:)`` after it.
    func beginExport() -> [TraceSpan] { ring.withLock { $0.beginExport() } }

    /// Ends the request of ``beginExport()``. `dropped`: spans that the collector did not accept.
    func endExport(dropped: Int) {
        ring.withLock { $0.endExport() }
        if dropped > 0 { counts.drop(.spans, dropped) }
    }

    /// Drops and counts all waiting spans.
    func dropAll() {
        let count = ring.withLock { ring in
            defer { ring.removeAll() }
            return ring.count
        }
        counts.drop(.spans, count)
    }

    /// While true, full batches do not wake the exporter: it waits for the collector.
    func setBackoff(_ backsOff: Bool) { exporterBacksOff.store(backsOff, ordering: .relaxed) }
}

/// How many values were not exported, since the start of the process. Read by the metrics page.
///
/// A class because the exporter and the metrics share it.
package final class DropCounts: Sendable {
    /// The values of an export.
    package enum Signal: String, Sendable, CaseIterable {
        /// Spans, which traces consist of.
        case spans
        /// Data points of metrics.
        case points
    }

    private let spans = Atomic<Int>(0)
    private let points = Atomic<Int>(0)

    package init() {}

    /// Values that did not fit into memory, or that the collector did not accept. Never decreases.
    package func dropped(_ signal: Signal) -> Int {
        switch signal {
        case .spans: spans.load(ordering: .relaxed)
        case .points: points.load(ordering: .relaxed)
        }
    }

    func drop(_ signal: Signal, _ count: Int) {
        switch signal {
        case .spans: spans.add(count, ordering: .relaxed)
        case .points: points.add(count, ordering: .relaxed)
        }
    }
}
