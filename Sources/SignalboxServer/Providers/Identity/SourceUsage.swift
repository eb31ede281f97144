import NIOCore
import SignalboxConfig
import SignalboxNotification
import Synchronization

/// Counts what each source uses of the provider endpoints, so that no source takes it from the others. One for the
/// process: a reload changes the limits, not the counts. Safe for concurrent use.
final class SourceUsage: Sendable {
    // A class because all connections share it.

    /// The limit that a request exceeds.
    enum Excess: Sendable, Equatable {
        /// The connection should close after the answer.
        case connections
        /// The connection stays, and the client may repeat the request on it.
        case streams
    }

    /// The limits of a source.
    enum Limit: String, CaseIterable, Sendable {
        /// Open connections on which the source sent a request.
        case connections
        /// Requests in progress.
        case streams
        /// Pushes in a second.
        case rate
    }

    enum Admission: Sendable {
        /// The request may continue. It holds the permit until it is answered; nil without a limit on requests.
        case admitted((any Sendable)?)
        case refused(Excess)
    }

    /// The usage of one source.
    private struct Usage {
        var connections = 0
        var streams = 0
        /// The pushes that the rate permitted at `time`; nil before the first push.
        var tokens: Double?
        /// When ``tokens`` was computed. Never goes back, although a request that read the clock earlier may reach the
        /// lock later.
        var time: NIODeadline
    }

    /// Refused requests and pushes since the start.
    let refusals = Tally<Limit>()
    /// Entries stay: there are as many as sources with a limit.
    private let sources = Mutex<[SourceName: Usage]>([:])

    /// Counts a request of a source. A connection counts from its first request to its end, once for each source.
    /// Without limits, nothing is counted.
    func admit(
        _ source: SourceName, within limits: GatewayConfig.SourceLimits, on connection: ProviderConnection,
        at now: NIODeadline = .now()
    ) -> Admission {
        let admission = decide(on: source, within: limits, on: connection, at: now)
        switch admission {
        case .admitted: break
        case .refused(.connections): refusals.count(.connections)
        case .refused(.streams): refusals.count(.streams)
        }
        return admission
    }

    /// A connection keeps its permit even if this request is refused.
    private func decide(
        on source: SourceName, within limits: GatewayConfig.SourceLimits, on connection: ProviderConnection,
        at now: NIODeadline
    ) -> Admission {
        // The requests of such a connection do not share the value, so the connection cannot be counted.
        if let most = limits.connections, !connection.isOfOneRequest {
            let permit = connection.permit("source \(source.name)") {
                count(\.connections, of: source, upTo: most, at: now)
            }
            guard permit != nil else { return .refused(.connections) }
        }
        guard let most = limits.streams else { return .admitted(nil) }
        guard let permit = count(\.streams, of: source, upTo: most, at: now) else { return .refused(.streams) }
        return .admitted(permit)
    }

    /// Adds one to a counter; the permit subtracts it again. Returns nil if the counter is at `most`.
    private func count(
        _ counter: any WritableKeyPath<Usage, Int> & Sendable, of source: SourceName, upTo most: Int,
        at now: NIODeadline
    ) -> Permit? {
        let isCounted = sources.withLock { sources in
            var usage = sources[source] ?? Usage(time: now)
            guard usage[keyPath: counter] < most else { return false }
            usage[keyPath: counter] += 1
            sources[source] = usage
            return true
        }
        guard isCounted else { return nil }
        return Permit { [self] in sources.withLock { $0[source]?[keyPath: counter] -= 1 } }
    }

    /// Counts pushes of a request that was admitted. Returns how many of them the rate permits, the first ones. The
    /// rate permits bursts of one second.
    func admit(pushes count: Int, of source: SourceName, perSecond most: Int, at now: NIODeadline = .now()) -> Int {
        // A bucket of tokens that fills at the rate.
        let admitted = sources.withLock { sources in
            let rate = Double(most)
            var usage = sources[source] ?? Usage(time: now)
            let time = max(usage.time, now)
            let added = rate * Double((time - usage.time).nanoseconds) / 1e9
            let tokens = min(rate, (usage.tokens ?? rate) + added)
            let spent = min(count, Int(tokens))
            (usage.tokens, usage.time) = (tokens - Double(spent), time)
            sources[source] = usage
            return spent
        }
        if admitted < count { refusals.count(.rate, times: count - admitted) }
        return admitted
    }

    /// Counts until its last reference ends.
    private final class Permit: Sendable {
        // A class because its deinit releases the count, wherever the request or the connection ends.
        private let release: @Sendable () -> Void

        init(release: @escaping @Sendable () -> Void) { self.release = release }

        deinit { release() }
    }
}
