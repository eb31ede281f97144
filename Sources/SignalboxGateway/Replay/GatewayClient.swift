package import Foundation
package import SignalboxEgress
import Synchronization

/// Hands requests of payloads to a running gateway, each until it is settled. Callable from anywhere at once: when the
/// gateway asks one of them to wait, all do.
package final class GatewayClient: Sendable {
    // A class because the requests under way share what the gateway said last.
    private struct State {
        /// Nobody asks before then.
        var quietUntil: Duration = .zero
        /// Since when nothing was settled.
        var silentSince: Duration
        var hasAnswered = false
        var isClosed = false
    }

    private let address: GatewayAddress
    private let token: String?
    private let http: OutboundHTTP
    private let clock: any Clock<Duration>
    private let elapsed: @Sendable () -> Duration
    private let now: @Sendable () -> Date
    private let state: Mutex<State>

    /// How long a gateway may say nothing that helps before the replay ends.
    package static let patience: Duration = .seconds(600)
    private static let longestWait: Duration = .seconds(30)
    private static let timeout: Duration = .seconds(60)

    /// `token`: of a source. `elapsed`: time that only ever passes, counted from any start.
    package init(
        _ address: GatewayAddress, token: String?, http: OutboundHTTP, clock: any Clock<Duration> = ContinuousClock(),
        elapsed: @escaping @Sendable () -> Duration, now: @escaping @Sendable () -> Date
    ) {
        self.address = address
        self.token = token
        self.http = http
        self.clock = clock
        self.elapsed = elapsed
        self.now = now
        state = Mutex(State(silentSince: elapsed()))
    }

    /// Why a request was not settled.
    package enum Failure: Error, Sendable, Equatable {
        /// It never will be; with one sentence.
        case refused(String)
        /// The client was closed.
        case stopped
    }

    /// Ends what waits for its next attempt; what is under way is not cut short.
    package func close() { state.withLock { $0.isClosed = true } }

    /// Sends a request until the gateway says what became of each payload. `key`: by which the gateway knows it when it
    /// comes again.
    package func send(_ body: [UInt8], of count: Int, key: String) async throws(Failure) -> [UploadAnswer.Item] {
        var headers = [("content-type", "application/x-ndjson"), ("idempotency-key", key)]
        if let token { headers.append(("authorization", "Bearer \(token)")) }
        let request = OutboundRequest(
            url: address.url, headers: headers, body: body, timeout: Self.timeout, keptBytes: 256 * 1024)
        var attempts = 0
        while true {
            try await waitForQuiet()
            let result = await http.attempt(request)
            attempts += 1
            switch try answer(result, to: count) {
            case .settled(let items):
                noteSettled()
                return items
            case .refused(let sentence): throw .refused(sentence)
            case .later(let named, let reason): try wait(attempts, named, because: reason)
            }
        }
    }

    private func answer(_ result: OutboundResult, to count: Int) throws(Failure) -> UploadAnswer {
        switch result.answer {
        case .success(let reply):
            state.withLock { $0.hasAnswered = true }
            return UploadAnswer(reply, to: count, now: now())
        case .failure(.stopped): throw .stopped
        case .failure(let error):
            // Before the first answer it is more likely the address that is wrong than the gateway that is away.
            let isNew = state.withLock { !$0.hasAnswered }
            guard error.isTemporary, !isNew else {
                throw .refused("\(address.url) cannot be reached: \(error).")
            }
            return .later(after: nil, because: "\(error)")
        }
    }

    private func noteSettled() {
        state.withLock { $0.silentSince = elapsed() }
    }

    /// Keeps everybody quiet for a time, or gives up.
    private func wait(_ attempts: Int, _ named: TimeInterval?, because reason: String) throws(Failure) {
        let now = elapsed()
        let backoff = min(Self.longestWait, .milliseconds(250) * (1 << min(attempts - 1, 10)))
        let delay = named.map { max(.seconds(min($0, 86_400)), .milliseconds(10)) } ?? backoff
        let isHopeless = state.withLock { state in
            state.quietUntil = max(state.quietUntil, now + delay)
            // A gateway that names a time is there.
            if named != nil { state.silentSince = max(state.silentSince, now + delay) }
            return now - state.silentSince > Self.patience
        }
        if isHopeless {
            throw .refused(
                "The gateway has taken nothing for \(Self.patience.components.seconds / 60) minutes: \(reason).")
        }
    }

    private func waitForQuiet() async throws(Failure) {
        while true {
            let (until, isClosed) = state.withLock { ($0.quietUntil, $0.isClosed) }
            guard !isClosed else { throw .stopped }
            let left = until - elapsed()
            guard left > .zero else { return }
            // In short pieces, so that closing is noticed.
            do { try await clock.sleep(for: min(left, .milliseconds(100))) } catch { throw .stopped }
        }
    }
}
