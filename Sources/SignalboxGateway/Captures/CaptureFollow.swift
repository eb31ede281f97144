package import SignalboxJSON

/// Prints the captures of a running gateway as they arrive, for `signalbox capture`.
package struct CaptureFollow: Sendable {
    private let client: CaptureClient
    private let request: CaptureRequest
    /// The number of captures that completes the run; nil if the run never ends by itself.
    private let until: Int?
    /// How long the run waits at most; nil for no limit.
    private let timeout: Duration?
    private let clock: any Clock<Duration>

    /// The end of a run.
    package enum End: Sendable, Equatable {
        case complete
        /// The time is over. `nearMisses`: the captures that arrived and did not count, each as text.
        case timeout(nearMisses: [String])
    }

    /// `clock`: measures the timeout.
    package init(
        _ client: CaptureClient, _ request: CaptureRequest, until: Int?, timeout: Duration?,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.client = client
        self.request = request
        self.until = until
        self.timeout = timeout
        self.clock = clock
    }

    /// Captures of one request.
    private static let page = 500
    /// The longest wait of one request. The gateway permits 60 seconds.
    private static let longestWait: Duration = .seconds(30)
    /// The most captures that a wait of the gateway counts.
    private static let longestCount = 1000

    /// Passes each capture to `show`, in order, without those before the start if `onlyNew`. Calls `warn` if the
    /// gateway dropped captures that were not read. Throws ``CaptureClient/Failure``.
    package func run(
        onlyNew: Bool, show: (JSONText) -> Void, warn: (String) -> Void
    ) async throws(CaptureClient.Failure) -> End {
        let stopwatch = Stopwatch(clock)
        let start = try await onlyNew ? client.last() : "0"
        var (cursor, shown) = (start, 0)
        while true {
            let most = min(Self.page, until.map { $0 - shown } ?? Self.page)
            let page = try await client.search(request, after: cursor, limit: most)
            if page.isTruncated { warn("Captures were dropped before they were read; see gateway.captures.") }
            for capture in page.captures { show(capture) }
            shown += page.captures.count
            cursor = page.next
            if let until, shown >= until { return .complete }
            guard page.captures.isEmpty else { continue }
            let left = timeout.map { $0 - stopwatch.elapsed() } ?? Self.longestWait
            guard left > .zero else { return .timeout(nearMisses: try await nearMisses(after: start)) }
            // The next search reads this capture again, because more captures may have arrived by then.
            _ = try await client.wait(request, for: 1, after: cursor, atMost: min(left, Self.longestWait))
        }
    }

    /// Why the captures of the whole run did not count.
    private func nearMisses(after start: String) async throws(CaptureClient.Failure) -> [String] {
        let count = min(until ?? 1, Self.longestCount)
        let page = try await client.wait(request, for: count, after: start, atMost: .zero)
        return page.nearMisses.map { CaptureLine.text(nearMiss: $0) }
    }
}
