package import Foundation
import SignalboxEgress

/// Makes the links to stored files in events and verifies them in requests.
///
/// Without keys a link never expires. With keys it has a time and a signature:
/// `?expires=<seconds since 1970>&signature=<base64url of HMAC-SHA256>`. The code covers everything from `/media/` to
/// the time, but not the public URL, which may change. Links of an earlier config stay valid if their secret is still
/// among the secrets. Callable from any thread.
package struct MediaLinks: Sendable {
    private let root: String
    private let keys: [MessageAuthentication]
    private let expiry: Duration

    /// Expiry times are multiples of this many seconds, so equal events of one hour have equal links.
    private static let step = 3600

    /// Makes links that are signed with the first secret and accepts those signed with any. They expire after
    /// `expiry`, or up to an hour later. Without secrets links never expire. `publicUrl`: the URL before the
    /// gateway's paths; nil for relative links. The order of the secrets matters: the first one signs. To rotate, put
    /// the new secret first and keep the old one.
    package init(publicUrl: String?, secrets: [String] = [], expiry: Duration = .zero) {
        root = publicUrl.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 } ?? ""
        keys = secrets.map { MessageAuthentication(key: Array($0.utf8)) }
        self.expiry = expiry
    }

    /// The link to a file. `sha256`: 64 lower-case hexadecimal digits. The link is absolute if there is a public URL.
    package func href(_ sha256: String, now: Date) -> String {
        guard let key = keys.first else { return root + Self.path(of: sha256) }
        let end = now.timeIntervalSince1970 + expiry / .seconds(1)
        let signed = Self.signed(sha256, expires: "\(Int((end / Double(Self.step)).rounded(.up)) * Self.step)")
        return root + signed + "&signature=" + Self.signature(of: signed, by: key)
    }

    /// The validity of a link. The server answers requests for files by it.
    package enum Verdict: Sendable, Equatable {
        /// Links need no signature here.
        case open
        /// The signature is valid; the link expires in this many seconds.
        case signed(secondsLeft: Int)
        /// The link has no time or no signature.
        case unsigned
        /// The signature is not valid for this file and time.
        case wrong
        /// The signature is valid, but the link has expired.
        case expired
    }

    /// Verifies a link to a file by its query. Takes the same time for every wrong signature. `expires` and
    /// `signature` are the raw values of the query; nil if they are missing. The signature is checked before the
    /// time, so an expired link is reported only if it was valid.
    package func verdict(on sha256: String, expires: String?, signature: String?, now: Date) -> Verdict {
        guard !keys.isEmpty else { return .open }
        guard let expires, let signature else { return .unsigned }
        let signed = Self.signed(sha256, expires: expires)
        let isOurs = keys.reduce(false) { isOurs, key in
            equalInConstantTime(Array(Self.signature(of: signed, by: key).utf8), Array(signature.utf8)) || isOurs
        }
        guard isOurs, let end = Int(expires) else { return .wrong }
        let left = end - Int(now.timeIntervalSince1970.rounded(.down))
        return left > 0 ? .signed(secondsLeft: left) : .expired
    }

    /// The path of the server's endpoint for files.
    private static func path(of sha256: String) -> String { "/media/" + sha256 }

    /// The text that the signature covers; it is also the beginning of the link.
    private static func signed(_ sha256: String, expires: String) -> String {
        path(of: sha256) + "?expires=" + expires
    }

    /// In base64url without padding (RFC 4648, 5).
    private static func signature(of text: String, by key: MessageAuthentication) -> String {
        Data(key.authenticate(Array(text.utf8))).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
