import Foundation

/// How many descriptors the process may have: what connections from outside take is missing to those we open.
package enum OpenFiles {
    /// Descriptors kept for the queue's files and for requests of our own.
    private static let reserve = 512

    /// Raises the process's own limit as far as the system lets it.
    package static func raiseLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = min(limit.rlim_max, 1 << 20)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// How many connections may come in at once, `most` at the most.
    static func connections(atMost most: Int) -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return min(most, 256) }
        let all = Int(clamping: limit.rlim_cur)
        return max(16, min(most, all - reserve, all / 2))
    }
}
