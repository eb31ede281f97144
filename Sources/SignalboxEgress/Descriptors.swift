import Foundation

/// The file descriptors of the process, of which outgoing connections may not take all: the queue, inbound connections
/// and the threads of the process need some, and libdispatch ends the process if it gets none.
enum Descriptors {
    /// Descriptors with the highest numbers. The system gives the lowest free one.
    private static let reserve = min(64, limit / 4)

    /// The limit of the process, which a gateway raises before its first request. The largest number if the system does
    /// not tell it.
    private static let limit: Int = {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return .max }
        return Int(clamping: limit.rlim_cur)
    }()

    /// Whether outgoing connections must leave this descriptor to others.
    static func isReserved(_ descriptor: Int32) -> Bool { Int(descriptor) >= limit - reserve }

    /// Idle connections that a client may keep, of `most`: at most an eighth of all descriptors.
    static func idleConnections(atMost most: Int) -> Int { max(1, min(most, limit / 8)) }
}
