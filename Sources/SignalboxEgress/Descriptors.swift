import Foundation

/// The file descriptors of the process. Outgoing connections may not take all of them: the queue, inbound connections
/// and the threads of the process need some, and libdispatch ends the process if it gets none.
package struct Descriptors: Sendable {
    /// How many this process may have open; nil if the system does not tell it.
    package static var currentLimit: Int? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        return Int(clamping: limit.rlim_cur)
    }

    /// Of this process. A gateway raises its limit before its first request.
    static let own = Descriptors(currentLimit ?? .max)

    private let limit: Int
    /// Descriptors with the highest numbers. The system gives the lowest free one.
    private let reserve: Int

    /// `limit`: the number of descriptors; the largest number for no limit.
    init(_ limit: Int) { (self.limit, reserve) = (limit, min(64, limit / 4)) }

    /// Whether outgoing connections must leave this descriptor to the rest of the process.
    func isReserved(_ descriptor: Int32) -> Bool { Int(descriptor) >= limit - reserve }

    /// Idle connections that a client may keep, of `most`: at most an eighth of all descriptors.
    func idleConnections(atMost most: Int) -> Int { max(1, min(most, limit / 8)) }
}
