import Foundation
import SignalboxEgress

/// A key of a service account.
struct ServiceAccountKey: Hashable, Sendable {
    /// `iss` of its assertions.
    let email: String
    /// `kid` of its assertions.
    let keyID: String
}

/// Grants access tokens to service accounts, and verifies them. A token names its account and its end, and is
/// authenticated by a key. So the gateway stores none of them: tokens stay valid across restarts, and at each gateway
/// with the same key.
struct GrantedTokens: Sendable {
    /// How long a token is valid, in seconds, as Google's.
    static let lifetime = 3600
    /// Google's tokens begin with `ya29.`, and some clients check that.
    private static let prefix = "ya29.c.signalbox-"
    /// Longer tokens are not examined. The assertion that a token is granted for is shorter.
    private static let mostBytes = prefix.utf8.count + 2 * (ServiceAssertion.mostBytes + codeBytes)
    /// The authentication code, which precedes the claims in a token.
    private static let codeBytes = 32

    private let authentication: MessageAuthentication

    /// `key`: 32 random bytes, which are used for nothing else.
    init(key: [UInt8]) { authentication = MessageAuthentication(key: key) }

    /// A token. `account`: nil for one that is granted without a check of its signature, while access is open. After
    /// the prefix, the code and the claims are in hexadecimal digits. Granting stores nothing.
    func grant(to account: ServiceAccountKey?, at now: Date) -> String {
        let end = Int(now.timeIntervalSince1970) + Self.lifetime
        let claims = Array("\(end)\n\(account?.keyID ?? "")\n\(account?.email ?? "")".utf8)
        return Self.prefix + hexadecimal(authentication.authenticate(claims)) + hexadecimal(claims)
    }

    /// The account that a valid token was granted to; nil for any other text and for an expired token. Compares the
    /// code in constant time.
    func account(of token: String, at now: Date) -> ServiceAccountKey? {
        guard Self.mayBeGranted(token), token.utf8.count <= Self.mostBytes,
            let bytes = Self.bytes(of: token.utf8.dropFirst(Self.prefix.utf8.count))
        else { return nil }
        let claims = Array(bytes.dropFirst(Self.codeBytes))
        guard equalInConstantTime(Array(bytes.prefix(Self.codeBytes)), authentication.authenticate(claims)) else {
            return nil
        }
        let parts = String(decoding: claims, as: UTF8.self)
            .split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let end = Int(parts[0]), now.timeIntervalSince1970 < Double(end) else { return nil }
        return ServiceAccountKey(email: String(parts[2]), keyID: String(parts[1]))
    }

    /// True for a token in the form of the gateway's own, which may have expired or may be of another gateway.
    static func mayBeGranted(_ token: String) -> Bool { token.hasPrefix(prefix) }

    /// Reverses ``hexadecimal(_:)``; nil for other text.
    private static func bytes(of digits: Substring.UTF8View) -> [UInt8]? {
        var bytes: [UInt8] = []
        var high: UInt8?
        for digit in digits {
            let value: UInt8
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = digit - UInt8(ascii: "a") + 10
            default: return nil
            }
            if let first = high { bytes.append(first << 4 | value) }
            high = high == nil ? value : nil
        }
        return high == nil ? bytes : nil
    }
}
