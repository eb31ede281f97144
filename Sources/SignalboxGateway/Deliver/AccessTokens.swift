import Foundation
package import SignalboxConfig
package import SignalboxEgress
package import SignalboxNotification
import Synchronization

/// Access tokens of one client, by OAuth 2.0's client credentials grant (RFC 6749, 4.4).
///
/// A token is cached in memory until a minute or a tenth of its life before it expires, at most a day. All callers
/// that wait for one share a single request and its result, a token or a failure.
package actor AccessTokens {
    private let credentials: Destination.ClientCredentials
    /// Sent to the token endpoint only.
    private let secret: String
    /// The transport options of the webhook, without its pins.
    private var transport: TransportOptions
    /// The timeout of one request to the token endpoint.
    private let timeout: Duration
    private let http: OutboundHTTP
    /// Monotonic, so a change of the wall clock does not prolong a token.
    private let now: @Sendable () -> ContinuousClock.Instant
    /// The cached token; it may have expired.
    private nonisolated let current = Mutex<Token?>(nil)
    /// The request in flight; callers wait for it instead of starting another.
    private var fetching: Task<Result<Token, TransportError>, Never>?

    /// `end` is the time on the clock of ``now`` from which the token is not used any longer, a margin before its
    /// expiry.
    private struct Token: Sendable {
        /// As the server sent it.
        let text: String
        let end: ContinuousClock.Instant
    }

    /// `transport`: the options of the webhook. Its certificate pins do not apply, because the token server is another
    /// server.
    package init(
        _ credentials: Destination.ClientCredentials, secret: String, transport: TransportOptions, timeout: Duration,
        http: OutboundHTTP, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        (self.credentials, self.secret, self.transport) = (credentials, secret, transport)
        self.transport.tls.pins = []
        (self.timeout, self.http, self.now) = (timeout, http, now)
    }

    /// A token to send. `refused`: a token that the destination rejected; requests a new one. Throws
    /// ``TransportError/token(_:)`` with the reason if there is none; a failure is not cached. Returns at once with a
    /// cached token. A caller that waits is not affected by the cancellation of another caller's task.
    package func token(insteadOf refused: String? = nil) async throws(TransportError) -> String {
        if let cached = cached(insteadOf: refused) { return cached }
        return try await fetched().get().text
    }

    /// The same without waiting: calls `use` once, before it returns if there is a cached token.
    nonisolated func token(
        insteadOf refused: String? = nil, whenKnown use: @escaping @Sendable (Result<String, TransportError>) -> Void
    ) {
        if let cached = cached(insteadOf: refused) { return use(.success(cached)) }
        // Unstructured: the timeout of the request bounds it.
        Task {
            do throws(TransportError) {
                use(.success(try await token(insteadOf: refused)))
            } catch {
                use(.failure(error))
            }
        }
    }

    private nonisolated func cached(insteadOf refused: String?) -> String? {
        current.withLock { [now] in $0.flatMap { $0.text != refused && $0.end > now() ? $0.text : nil } }
    }

    /// Joins the request in flight, or starts one. A result replaces the cached token, even if it is a failure.
    private func fetched() async -> Result<Token, TransportError> {
        if let fetching { return await fetching.value }
        // Unstructured: the request belongs to all callers, not to the first one.
        let task = Task { await fetch() }
        fetching = task
        let result = await task.value
        fetching = nil
        current.withLock { $0 = try? result.get() }
        return result
    }

    /// Keeps `stopped` and `exhausted` as they are, because the retry policy treats them differently from a failed
    /// request.
    private func fetch() async -> Result<Token, TransportError> {
        let asked = now()
        do throws(TransportError) {
            return .success(try Self.token(in: try await http.send(request), askedAt: asked))
        } catch .stopped {
            return .failure(.stopped)
        } catch .exhausted(let why) {
            return .failure(.exhausted(why))
        } catch .token(let why) {
            return .failure(.token(why))
        } catch {
            return .failure(.token("\(error)"))
        }
    }

    // MARK: The request

    /// The client's id and secret are in the `authorization` header (RFC 6749, 2.3.1), form-encoded before base64.
    private var request: OutboundRequest {
        let client = Self.formEncoded(credentials.clientID) + ":" + Self.formEncoded(secret)
        let scope = credentials.scope.map { "&scope=" + Self.formEncoded($0) } ?? ""
        return OutboundRequest(
            url: credentials.tokenURL,
            headers: [
                ("accept", "application/json"),
                ("authorization", "Basic " + Data(client.utf8).base64EncodedString()),
                ("content-type", "application/x-www-form-urlencoded"),
            ],
            body: Array("grant_type=client_credentials\(scope)".utf8), timeout: timeout,
            keptBytes: Self.longestReply + 1, transport: transport)
    }

    /// The encoding of `application/x-www-form-urlencoded`: all bytes but letters, digits, `-`, `.`, `_` are escaped.
    private static func formEncoded(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case _ where byte.isLetterOrDigit || "-._".utf8.contains(byte): String(UnicodeScalar(byte))
            case UInt8(ascii: " "): "+"
            default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }.joined()
    }

    // MARK: The reply

    /// Bounds of the reply in bytes, and of a token's use in seconds: a day, however long the server allows it.
    private static let longestReply = 64 * 1024
    /// In bytes.
    private static let longestToken = 16 * 1024
    /// In seconds.
    private static let longestUse = 24 * 3600.0
    /// Used if the server does not name an expiry.
    private static let usualUse = 300.0

    /// Reads a token from the reply (RFC 6749, 5.1). Its time counts from the request, because the reply may be slow.
    /// Throws ``TransportError/token(_:)`` for a status other than 200 and for a reply that has no usable Bearer
    /// token.
    private static func token(
        in reply: OutboundReply, askedAt asked: ContinuousClock.Instant
    ) throws(TransportError) -> Token {
        guard reply.excerpt.count <= longestReply else { throw .token("the reply is longer than 64 KiB") }
        let json = (try? JSONSerialization.jsonObject(with: Data(reply.excerpt))) as? [String: Any]
        guard reply.status == 200 else { throw .token("the token server answered \(reply.status)\(errorCode(json))") }
        guard let json else { throw .token("the reply is not a JSON object") }
        guard let text = json["access_token"] as? String, (1...longestToken).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw .token("the reply has no \"access_token\" that is valid in a header") }
        if let type = json["token_type"] as? String, type.lowercased() != "bearer" {
            throw .token("the reply's \"token_type\" is not Bearer")
        }
        // Some servers write the number as a string.
        let life = json["expires_in"].flatMap { ($0 as? Double) ?? ($0 as? String).flatMap { Double($0) } } ?? usualUse
        let seconds = min(max(life.isNaN ? 0 : life, 0), longestUse).rounded(.down)
        // Reserves time for the request: a minute, or a tenth of a short life.
        return Token(text: text, end: asked + .seconds(seconds - min(60, (seconds / 10).rounded(.down))))
    }

    /// The error code of RFC 6749, 5.2, if there is one. Other text of the reply is not repeated. The code consists
    /// of lower-case letters and underscores only, so it is safe in logs.
    private static func errorCode(_ json: [String: Any]?) -> String {
        guard let code = json?["error"] as? String, (1...64).contains(code.utf8.count),
            code.utf8.allSatisfy({ $0 == UInt8(ascii: "_") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) })
        else { return "" }
        return " \(code)"
    }
}
