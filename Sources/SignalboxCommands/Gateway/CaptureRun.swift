import SignalboxJSON

/// One run of `signalbox capture`: prints the captures of a running gateway as they arrive.
package struct CaptureRun: Sendable {
    private let client: CaptureClient
    private let request: CaptureRequest
    /// The number of captures that completes the run; nil if the run never ends by itself.
    private let until: Int?
    private let timeout: Duration

    /// Captures of one request.
    private static let page = 500
    /// The longest wait of one request. The gateway permits 60 seconds.
    private static let longestWait: Duration = .seconds(30)
    /// The most captures that a wait of the gateway counts.
    private static let longestCount = 1000

    /// `until`: completes the run after this number of pushes; nil for a run without an end. `timeout`: the longest
    /// wait for them. Without `until`, `timeout` has no effect.
    package init(_ connection: GatewayConnection, _ request: CaptureRequest, until: Int?, timeout: Duration) {
        client = CaptureClient(connection: connection)
        (self.request, self.until, self.timeout) = (request, until, timeout)
    }

    /// Prints each push. Throws ``CommandFailure/incomplete(_:)`` when the pushes did not come in time, after a report
    /// on standard error. `onlyNew`: leaves out pushes that arrived before the start. Each line of `print` has no line
    /// end.
    package func run(onlyNew: Bool, asJSON: Bool, print: (String) -> Void) async throws(CommandFailure) {
        let begin = ContinuousClock.now
        let start = try await onlyNew ? client.last() : "0"
        var (cursor, shown) = (start, 0)
        while true {
            let most = min(Self.page, until.map { $0 - shown } ?? Self.page)
            let page = try await client.search(request, after: cursor, limit: most)
            if page.isTruncated {
                StandardError.write("signalbox: Captures were dropped before they were read; see gateway.captures.\n")
            }
            for capture in page.captures { print(asJSON ? capture.string : CaptureLine.text(capture)) }
            shown += page.captures.count
            cursor = page.next
            if let until, shown >= until { return }
            guard page.captures.isEmpty else { continue }
            let left = until == nil ? Self.longestWait : timeout - begin.duration(to: .now)
            guard left > .zero else { break }
            // The next search reads this capture again, because more captures may have arrived by then.
            _ = try await client.wait(request, for: 1, after: cursor, atMost: min(left, Self.longestWait))
        }
        let count = until ?? 0
        // Why the captures of the whole run did not count.
        let end = try await client.wait(request, for: min(count, Self.longestCount), after: start, atMost: .zero)
        StandardError.write(
            CaptureWords.report(shown, of: count, end.nearMisses.map { CaptureLine.text(nearMiss: $0) }, after: timeout)
        )
        throw .incomplete("")
    }
}
