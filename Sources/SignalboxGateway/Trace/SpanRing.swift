import DequeModule

/// The ended spans that wait for their export, bounded in number. Pure: ``Telemetry`` shares it between tasks.
struct SpanRing {
    private var spans: Deque<TraceSpan> = []
    /// Spans of the request in progress, which count too.
    private var exporting = 0
    /// Spans that did not fit.
    private(set) var dropped = 0

    /// Most spans in memory.
    static let capacity = 4096
    /// Most spans of one request to the collector.
    static let batch = 512

    /// The number of waiting spans.
    var count: Int { spans.count }

    /// Appends a span, or drops and counts it if the ring is full. Earlier spans stay, so a trace that is partly in
    /// the ring keeps its beginning.
    mutating func append(_ span: TraceSpan) {
        guard spans.count + exporting < Self.capacity else {
            dropped += 1
            return
        }
        spans.append(span)
    }

    /// Takes the oldest spans for one request, ``batch`` at most. They count as long as ``endExport()`` was not called.
    mutating func beginExport() -> [TraceSpan] {
        let taken = Array(spans.prefix(Self.batch))
        spans.removeFirst(taken.count)
        exporting = taken.count
        return taken
    }

    /// The spans of the last ``beginExport()`` are exported or given up.
    mutating func endExport() { exporting = 0 }

    /// Forgets all waiting spans without counting them: export was switched off.
    mutating func removeAll() { spans.removeAll() }
}
