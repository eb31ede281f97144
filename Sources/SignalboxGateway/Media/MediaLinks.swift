package import Foundation
import SignalboxEgress

/// Links to the gateway's files: makes those that events bear, and judges those that come back.
///
/// Without keys a link is the file's name behind the public URL and good for ever. With keys it bears a time and a
/// signature: `?expires=<seconds since 1970>&signature=<base64url of HMAC-SHA256>`, the code being over everything from
/// `/media/` up to the time. The public URL is not signed, so a gateway may change it.
package struct MediaLinks: Sendable {
    private let root: String
    private let keys: [MessageAuthentication]
    private let expiry: Duration

    /// Shortest secret, in bytes.
    package static let shortestSecret = 16
    /// Links end with one of these, in seconds, so that equal events of one hour have equal links.
    private static let step = 3600

    /// Links that are good for ever. `publicUrl`: what stands before paths of the gateway's own; nil for relative links.
    package init(publicUrl: String?) { self.init(publicUrl: publicUrl, secrets: [], expiry: .zero) }

    /// Links that are signed with the first secret, and good with any of them for at least `expiry` and up to an hour more.
    /// Each secret has ``shortestSecret`` bytes or more; none are links that are good for ever.
    package init(publicUrl: String?, secrets: [String], expiry: Duration) {
        precondition(
            secrets.allSatisfy { $0.utf8.count >= Self.shortestSecret }, "A secret of links is too short to be one.")
        root = publicUrl.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 } ?? ""
        keys = secrets.map { MessageAuthentication(key: Array($0.utf8)) }
        self.expiry = expiry
    }

    /// Where whoever gets an event finds a file.
    package func href(_ sha256: String, now: Date) -> String {
        guard let key = keys.first else { return root + Self.path(of: sha256) }
        let end = now.timeIntervalSince1970 + expiry / .seconds(1)
        let signed = Self.signed(sha256, expires: "\(Int((end / Double(Self.step)).rounded(.up)) * Self.step)")
        return root + signed + "&signature=" + Self.signature(of: signed, by: key)
    }

    /// What a link is worth.
    package enum Verdict: Sendable, Equatable {
        /// Good for ever.
        case open
        /// Good for so many seconds more.
        case signed(secondsLeft: Int)
        /// It has no time, or no signature.
        case unsigned
        /// The signature is not ours, or not that of this file and time.
        case wrong
        /// It was ours, and its time is over.
        case expired
    }

    /// Judges a link to a file by what its query says. The time that it takes does not depend on how much of a signature is
    /// right.
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

    private static func path(of sha256: String) -> String { "/media/" + sha256 }

    private static func signed(_ sha256: String, expires: String) -> String {
        path(of: sha256) + "?expires=" + expires
    }

    /// Without padding (RFC 4648, 5).
    private static func signature(of text: String, by key: MessageAuthentication) -> String {
        String(
            Data(key.authenticate(Array(text.utf8))).base64EncodedString().compactMap { character in
                switch character {
                case "+": "-"
                case "/": "_"
                case "=": nil
                default: character
                }
            })
    }
}
