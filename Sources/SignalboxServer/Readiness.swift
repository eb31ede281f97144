import Synchronization

/// Whether the gateway can take events, asked at most once a second however often it is asked: finding out costs a
/// write to disk.
final class Readiness: Sendable {
    // A class because all requests share the answer.
    private let last = Mutex<(time: ContinuousClock.Instant, isReady: Bool)?>(nil)
    private let find: @Sendable () async -> Bool

    init(_ find: @escaping @Sendable () async -> Bool) { self.find = find }

    func isReady() async -> Bool {
        let now = ContinuousClock.now
        if let last = last.withLock({ $0 }), now - last.time < .seconds(1) { return last.isReady }
        let isReady = await find()
        last.withLock { $0 = (now, isReady) }
        return isReady
    }
}
