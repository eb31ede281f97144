import Foundation
package import SignalboxConfig
package import SignalboxEgress
import SignalboxJSON
package import SignalboxNotification

/// Access tokens of one client, by OAuth 2.0's client credentials grant (RFC 6749, 4.4).
///
/// A token is cached until shortly before it expires. All callers that wait for one share a single request and its
/// result, a token or a failure.
package actor AccessTokens {
    private let credentials: Destination.ClientCredentials
    private let secret: String
    private let transport: TransportOptions
    private let timeout: Duration
    private let http: OutboundHTTP
    private let now: @Sendable () -> ContinuousClock.Instant
    private var current: Token?
    private var fetching: Task<Result<Token, TransportError>, Never>?

    private struct Token: Sendable {
        let text: String
        let end: ContinuousClock.Instant
    }

    /// `transport`: of the webhook. Its certificate pins do not apply, because the token server is another server.
    package init(
        _ credentials: Destination.ClientCredentials, secret: String, transport: TransportOptions, timeout: Duration,
        http: OutboundHTTP, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.credentials = credentials
        self.secret = secret
        self.transport = TransportOptions(tls: transport.tls.withoutPins, proxy: transport.proxy)
        self.timeout = timeout
        self.http = http
        self.now = now
    }

    /// A token to send. `refused`: a token that the destination rejected; requests a new one.
    package func token(insteadOf refused: String? = nil) async throws(TransportError) -> String {
        if let current, current.text != refused, current.end > now() { return current.text }
        return try await fetched().get().text
    }

    private func fetched() async -> Result<Token, TransportError> {
        if let fetching { return await fetching.value }
        // Unstructured: the request belongs to all callers, not to the first one.
        let task = Task { await fetch() }
        fetching = task
        let result = await task.value
        fetching = nil
        current = try? result.get()
        return result
    }

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

    private static func formEncoded(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                String(UnicodeScalar(byte))
            case UInt8(ascii: " "): "+"
            default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }.joined()
    }

    // MARK: The reply

    private static let longestReply = 64 * 1024
    private static let longestToken = 16 * 1024
    private static let longestUse = 24 * 3600
    /// Used if the server does not name an expiry.
    private static let usualUse = 300

    private static func token(
        in reply: OutboundReply, askedAt asked: ContinuousClock.Instant
    ) throws(TransportError) -> Token {
        guard reply.excerpt.count <= longestReply else { throw .token("the reply is longer than 64 KiB") }
        let parser = JSONParser(limits: .init())
        let json = try? parser.parse(reply.excerpt)
        guard reply.status == 200 else {
            throw .token("\(answered(reply.status))\(json.map(code) ?? "")")
        }
        guard let json, json.isObject else { throw .token("the reply is not a JSON object") }
        guard let text = json["access_token"]?.string, (1...longestToken).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw .token("the reply has no \"access_token\" that is valid in a header") }
        if let type = json["token_type"]?.string, type.lowercased() != "bearer" {
            throw .token("the reply's \"token_type\" is not Bearer")
        }
        let seconds = min(max(json["expires_in"].flatMap(seconds) ?? usualUse, 0), longestUse)
        // Reserves time for the request: a minute, or a tenth of a short life.
        return Token(text: text, end: asked + .seconds(seconds) - .seconds(min(60, seconds / 10)))
    }

    private static func seconds(_ value: JSONValue) -> Int? {
        // Some servers write it as a string.
        value.integer.map { Int(clamping: $0) } ?? value.double.map { Int(min(max($0, 0), 1e9)) }
            ?? value.string.flatMap { Int($0) }
    }

    private static func answered(_ status: Int) -> String { "the token server answered \(status)" }

    /// The error code of RFC 6749, 5.2, if there is one. Other text of the reply is not repeated.
    private static func code(_ json: JSONValue) -> String {
        guard let code = json["error"]?.string, (1...64).contains(code.utf8.count),
            code.utf8.allSatisfy({ $0 == UInt8(ascii: "_") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) })
        else { return "" }
        return " \(code)"
    }
}

extension TransportOptions.TLS {
    fileprivate var withoutPins: Self {
        var tls = self
        tls.pins = []
        return tls
    }
}
