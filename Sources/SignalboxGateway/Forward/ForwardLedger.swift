package import Logging
import SignalboxNotification
import Synchronization

/// The forwarded pushes in progress and their counts, for all configs of the process. Safe for concurrent use.
///
/// A class because a reload keeps the counts, and repeats wait for pushes that an earlier config began.
package final class ForwardLedger: Sendable {
    /// The result of a forwarded push, for it and for the repeats that waited for it.
    typealias Result = PassThrough.Answer

    private struct State {
        /// Pushes in progress and repeats that wait, by source.
        var running: [SourceName: Int] = [:]
        /// Repeats that wait for a push in progress, by its source and the key of its verdict.
        var waiting: [Key: [CheckedContinuation<Result?, Never>]] = [:]
        var counts: [Count: Int] = [:]
        /// When each kind of message was last logged.
        var logged: [String: ContinuousClock.Instant] = [:]
    }

    private struct Key: Hashable {
        let source: SourceName
        let verdict: String
    }

    /// The labels of the metric.
    package struct Count: Sendable, Hashable {
        package let provider: ForwardedPush.Provider
        package let outcome: PushVerdict.Outcome
    }

    /// The shortest time between two equal messages.
    private static let logInterval: Duration = .seconds(60)
    /// The most kinds of messages that are remembered. One more forgets all of them.
    private static let mostLogged = 1000

    private let state = Mutex(State())
    private let logger: Logger

    /// `logger`: receives each kind of failure at most once a minute.
    package init(logger: Logger) { self.logger = logger }

    /// Runs `forward`. If a push of the same source and `key` is in progress, waits for its result instead. Returns nil
    /// if the source has `most` pushes in progress. `key`: nil for a push that is always new.
    func run(_ key: String?, of source: SourceName, upTo most: Int, _ forward: () async -> Result) async -> Result? {
        let isAdmitted = state.withLock { state in
            guard state.running[source, default: 0] < most else { return false }
            state.running[source, default: 0] += 1
            return true
        }
        guard isAdmitted else { return nil }
        defer {
            state.withLock { state in
                let left = state.running[source, default: 1] - 1
                state.running[source] = left > 0 ? left : nil
            }
        }
        guard let key else { return await forward() }
        let place = Key(source: source, verdict: key)
        if let result = await join(place) { return result }
        let result = await forward()
        for repeated in state.withLock({ $0.waiting.removeValue(forKey: place) ?? [] }) {
            repeated.resume(returning: result)
        }
        return result
    }

    /// Waits for the result of the push in progress. Without one, returns nil at once, and the caller's push is now in
    /// progress.
    private func join(_ place: Key) async -> Result? {
        await withCheckedContinuation { done in
            let isFirst = state.withLock { state in
                let isFirst = state.waiting[place] == nil
                if isFirst { state.waiting[place] = [] } else { state.waiting[place]?.append(done) }
                return isFirst
            }
            if isFirst { done.resume(returning: nil) }
        }
    }

    // MARK: Counts and log

    /// Counts an answer, and logs that a service is unreachable.
    func record(_ verdict: PushVerdict, to push: ForwardedPush) {
        state.withLock { $0.counts[Count(provider: push.provider, outcome: verdict.outcome), default: 0] += 1 }
        guard verdict.outcome == .unreachable else { return }
        let reason = verdict.reason ?? ""
        guard isDue("\(push.source) \(verdict.host) \(reason)") else { return }
        logger.warning(
            "Push service unreachable; answering 503.",
            metadata: ["source": "\(push.source)", "host": "\(verdict.host)", "error": "\(reason)"])
    }

    /// Logs a push that cannot be forwarded, at most once a minute for each source and reason. `reason`: the cause and
    /// the remedy.
    func recordRefusal(_ reason: String, of source: SourceName) {
        guard isDue("\(source) \(reason)") else { return }
        logger.warning(
            "Push cannot be forwarded; answering 503.", metadata: ["source": "\(source)", "reason": "\(reason)"])
    }

    /// The number of answers with these labels since the start of the process.
    package func count(_ provider: ForwardedPush.Provider, _ outcome: PushVerdict.Outcome) -> Int {
        state.withLock { $0.counts[Count(provider: provider, outcome: outcome)] ?? 0 }
    }

    private func isDue(_ message: String) -> Bool {
        state.withLock { state in
            let now = ContinuousClock.now
            if let last = state.logged[message], now - last < Self.logInterval { return false }
            if state.logged.count >= Self.mostLogged { state.logged = [:] }
            state.logged[message] = now
            return true
        }
    }
}
