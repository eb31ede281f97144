import SignalboxEgress
import SignalboxJSON

extension JSONWebToken {
    /// The members of a header that select the key.
    struct Header: Sendable, Equatable {
        /// `alg`, the signature algorithm.
        let algorithm: String
        /// `kid`; nil without one.
        let keyID: String?
    }

    /// The header; nil unless it is a JSON object with an `alg`, and for one with `crit`: the gateway knows no
    /// extension, and must not accept a token that requires one (RFC 7515, 4.1.11).
    func readHeader() -> Header? {
        read(header) { header in
            guard header["crit"] == nil else { return nil }
            return header["alg"]?.string.map { Header(algorithm: $0, keyID: header["kid"]?.string) }
        }
    }

    /// Passes the claims to `body`, for the duration of the call. Nil unless they are a JSON object.
    func readClaims<R>(_ body: (JSONValue) -> R?) -> R? { read(claims, body) }

    /// Nil for text that is not a JSON object, or is nested deeper than 8 levels. The value is valid only inside
    /// `body`.
    private func read<R>(_ json: [UInt8], _ body: (JSONValue) -> R?) -> R? {
        var limits = JSONParser.Limits()
        limits.bytes = Self.largest
        limits.depth = 8
        return JSONParser.read(json, limits: limits) { $0.isObject ? body($0) : nil }
    }
}
