import Synchronization

/// A clock that every sleep advances at once. A class because the sleeper and the test share it.
final class JumpingClock: Clock {
    struct Instant: InstantProtocol {
        var offset: Swift.Duration
        func advanced(by duration: Swift.Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Swift.Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private let state = Mutex(Swift.Duration.zero)

    var elapsed: Swift.Duration { state.withLock { $0 } }
    var now: Instant { Instant(offset: elapsed) }
    let minimumResolution = Swift.Duration.nanoseconds(1)

    func sleep(until deadline: Instant, tolerance: Swift.Duration?) async throws {
        state.withLock { $0 = max($0, deadline.offset) }
    }
}
