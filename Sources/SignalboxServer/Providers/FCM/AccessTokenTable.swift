import Foundation
import SignalboxEgress
import Synchronization

/// A key of a service account.
struct ServiceAccountKey: Hashable, Sendable {
    /// `iss` of its assertions.
    let email: String
    /// `kid` of its assertions.
    let keyID: String
}

/// The access tokens that the gateway granted to service accounts. In memory, as digests: after a restart clients
/// receive 401 and request another token.
final class AccessTokenTable: Sendable {
    // A class because the endpoints of all configs share it.
    /// How long a token is valid, in seconds, as Google's.
    static let lifetime = 3600
    /// The tokens of one account. Beyond it, the oldest token of the account ends early, so an account that requests
    /// tokens in a loop ends its own tokens only. Google's clients use a token for its whole hour.
    static let mostOfAccount = 1_000
    /// The tokens of all accounts. Beyond it, the older half ends early.
    private static let capacity = 100_000
    /// Google's tokens begin with it, and some clients check that.
    private static let prefix = "ya29.c."

    private struct Grant: Sendable {
        let account: ServiceAccountKey?
        let end: Date
    }

    private struct Grants: Sendable {
        /// By the digest of the token.
        var all = BoundedTable<[UInt8], Grant>(capacity: AccessTokenTable.capacity)
        /// The digests of each account in a ring: at most ``mostOfAccount``. Accounts come from configs.
        var rings: [ServiceAccountKey?: (digests: [[UInt8]], oldest: Int)] = [:]

        mutating func add(_ digest: [UInt8], _ grant: Grant) {
            all[digest] = grant
            var ring = rings.removeValue(forKey: grant.account) ?? ([], 0)
            if ring.digests.count < AccessTokenTable.mostOfAccount {
                ring.digests.append(digest)
            } else {
                all[ring.digests[ring.oldest]] = nil
                ring.digests[ring.oldest] = digest
                ring.oldest = (ring.oldest + 1) % ring.digests.count
            }
            rings[grant.account] = ring
        }
    }

    private let grants = Mutex(Grants())

    /// A new token. `account`: nil for one that was granted without a check of its signature, while access is open.
    func grant(to account: ServiceAccountKey?, at now: Date) -> String {
        let token = Self.prefix + hexadecimal(randomBytes(32))
        let grant = Grant(account: account, end: now.addingTimeInterval(TimeInterval(Self.lifetime)))
        grants.withLock { $0.add(sha256(Array(token.utf8)), grant) }
        return token
    }

    /// The account that a valid token was granted to. Nil for an unknown or expired token. The time of the lookup
    /// depends on the digest only, which does not reveal a token.
    func account(of token: String, at now: Date) -> ServiceAccountKey? {
        guard Self.mayBeGranted(token) else { return nil }
        let digest = sha256(Array(token.utf8))
        return grants.withLock { grants in
            guard let grant = grants.all[digest] else { return nil }
            guard now < grant.end else {
                grants.all[digest] = nil
                return nil
            }
            return grant.account
        }
    }

    /// True for a token in the form of the gateway's own, which may have expired or may be of an earlier process.
    static func mayBeGranted(_ token: String) -> Bool {
        token.hasPrefix(prefix) && token.utf8.count == prefix.utf8.count + 64
    }
}
