package import Foundation
package import SignalboxEgress
package import SignalboxNotification
import Synchronization

/// The endpoint of a running gateway that accepts payloads. The URL has neither a password nor a query. Checked when
/// the command line is read, before any payload is.
package struct GatewayAddress: Sendable, Equatable {
    /// The address of the endpoint, with its path.
    package let url: String
    /// The address without the path of an endpoint and without a slash at its end.
    package let root: String

    /// Reads the address of a gateway, with any path that a proxy adds; nil if it is not one. `source`: the source to
    /// send as; nil lets the token decide. Nil for other schemes than `http` and `https`, and for a URL with a user,
    /// a password, a query or a fragment.
    package init?(_ text: String, source: SourceName?) {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            scheme == "http" || scheme == "https", parts.host?.isEmpty == false, parts.user == nil,
            parts.password == nil, parts.query == nil, parts.fragment == nil
        else { return nil }
        var root = text[...]
        while root.hasSuffix("/") { root = root.dropLast() }
        self.root = String(root)
        url = root + (source.map { "/v1/sources/\($0.name)/notifications" } ?? "/v1/notifications")
    }
}

/// Sends requests of payloads to a running gateway and retries each until it is settled. Callable from any thread.
/// When the gateway asks one request to wait, all wait.
///
/// A class because concurrent requests share what the gateway answered last.
package final class GatewayClient: Sendable {
    private struct State {
        /// No request is sent before this time.
        var quietUntil: Duration = .zero
        /// When a request was last settled.
        var silentSince: Duration
        /// Whether any request got a response.
        var hasAnswered = false
        /// Set by ``close()`` and never reset.
        var isClosed = false
    }

    private let address: GatewayAddress
    /// Sent as a bearer token; nil for a gateway without sources.
    private let token: String?
    private let http: OutboundHTTP
    /// Sleeps between attempts.
    private let clock: any Clock<Duration>
    /// The time that waits are compared with.
    private let elapsed: @Sendable () -> Duration
    private let now: @Sendable () -> Date
    /// Shared by all requests.
    private let state: Mutex<State>

    /// The run ends when the gateway has settled no request for this long.
    package static let patience: Duration = .seconds(600)
    /// The longest wait that the client chooses by itself.
    private static let longestWait: Duration = .seconds(30)
    /// The time for one request, up to the last byte of its reply.
    private static let timeout: Duration = .seconds(60)

    /// `token`: of a source, sent as a bearer token. `http`: its policy permits the address, which the operator typed.
    /// `elapsed`: monotonic time, measured from any start. `now`: for a `Retry-After` that is a date. `clock`: sleeps;
    /// tests replace it together with `elapsed`.
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

    /// Ends requests that wait for their next attempt. Requests in flight continue. Callable from any thread, for
    /// instance from a signal handler's queue.
    package func close() { state.withLock { $0.isClosed = true } }

    /// Sends a request until the gateway answers for each payload, and returns one receipt for each, in their order. A
    /// rejected payload is a receipt too. `body`: the payloads, one after another. `key`: the `Idempotency-Key`, by
    /// which the gateway recognises a repeated request. Throws ``ReplayError/interrupted`` after ``close()``, and
    /// ``ReplayError/refused(_:)`` if retrying is useless or ``patience`` is over. The caller bounds the requests in
    /// flight.
    package func send(_ body: [UInt8], of count: Int, key: String) async throws(ReplayError) -> [Receipt] {
        var headers = [("content-type", "application/x-ndjson"), ("idempotency-key", key)]
        if let token { headers.append(("authorization", "Bearer \(token)")) }
        let request = OutboundRequest(
            url: address.url, headers: headers, body: body, timeout: Self.timeout,
            keptBytes: UploadAnswer.longestReply + 1)
        var attempts = 0
        while true {
            try await waitForQuiet()
            let result = await http.attempt(request)
            attempts += 1
            switch try answer(result, to: count) {
            case .settled(let items):
                state.withLock { $0.silentSince = elapsed() }
                return items
            case .refused(let sentence): throw .refused(sentence)
            case .later(let named, let reason): try wait(attempts, named, because: reason)
            }
        }
    }

    /// A failure before the first answer of any request refuses the run at once. Throws ``ReplayError/interrupted``
    /// after `http` has been stopped.
    private func answer(_ result: OutboundResult, to count: Int) throws(ReplayError) -> UploadAnswer {
        switch result.answer {
        case .success(let reply):
            state.withLock { $0.hasAnswered = true }
            return UploadAnswer(reply, to: count, now: now())
        case .failure(.stopped): throw .interrupted
        case .failure(let error):
            // Before the first answer, the address is more likely wrong than the gateway down.
            let hasAnswered = state.withLock { $0.hasAnswered }
            guard error.isTemporary, hasAnswered else { throw .refused("Cannot reach \(address.url): \(error).") }
            return .later(after: nil, because: "\(error)")
        }
    }

    /// Delays all requests, or gives up. `named`: seconds that the gateway asked for, at most a day. Otherwise the
    /// wait doubles from 250 ms up to 30 s. Throws ``ReplayError/refused(_:)`` after ``patience``.
    private func wait(_ attempts: Int, _ named: TimeInterval?, because reason: String) throws(ReplayError) {
        let now = elapsed()
        let backoff = min(Self.longestWait, .milliseconds(250) * (1 << min(attempts - 1, 10)))
        let delay = named.map { max(.seconds(min($0, 86_400)), .milliseconds(10)) } ?? backoff
        let isHopeless = state.withLock { state in
            state.quietUntil = max(state.quietUntil, now + delay)
            // A gateway that names a time is running.
            if named != nil { state.silentSince = max(state.silentSince, now + delay) }
            return now - state.silentSince > Self.patience
        }
        if isHopeless {
            throw .refused(
                "No payload was accepted for \(Self.patience.components.seconds / 60) minutes: \(reason).")
        }
    }

    /// Returns once no request of the run has asked for a wait.
    private func waitForQuiet() async throws(ReplayError) {
        while true {
            let (until, isClosed) = state.withLock { ($0.quietUntil, $0.isClosed) }
            guard !isClosed else { throw .interrupted }
            let left = until - elapsed()
            guard left > .zero else { return }
            // Sleep in short pieces, to notice `close`.
            do { try await clock.sleep(for: min(left, .milliseconds(100))) } catch { throw .interrupted }
        }
    }
}
