import Foundation
import SignalboxEgress

/// The limit on the descriptors of the process, which inbound and outbound connections share.
package enum OpenFiles {
    /// Descriptors reserved for the queue's files and for outbound requests. The rest is for inbound connections, up
    /// to half of all.
    private static let reserve = 512

    /// Raises the limit of the process as far as the system allows. Called once at the start of the gateway. Leaves
    /// the limit as it is when the system refuses.
    package static func raiseLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = min(limit.rlim_max, 1 << 20)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// Returns the number of inbound connections that a listener may have open at once, at most `most`. All listeners
    /// together have at most half of all descriptors, so that deliveries always get connections. `others`: further
    /// listeners, which have as many. Returns at least 16, even beyond the limit, and at most 256 if the system does
    /// not tell the limit.
    static func connections(atMost most: Int, besides others: Int = 0) -> Int {
        guard let all = Descriptors.currentLimit else { return min(most, 256) }
        return max(16, min(most, min(all - reserve, all / 2) / (others + 1)))
    }
}
