import Synchronization

/// Whether the gateway can take events, found out at most once a second and by one request at a time, however often it
/// is asked: finding out costs a write to disk.
final class Readiness: Sendable {
    // A class because all requests share the answer.
    private struct State {
        var answer: (time: ContinuousClock.Instant, isReady: Bool)?
        var isAsking = false
    }

    private let state = Mutex(State())
    private let find: @Sendable () async -> Bool

    init(_ find: @escaping @Sendable () async -> Bool) { self.find = find }

    func isReady() async -> Bool {
        let now = ContinuousClock.now
        let known = state.withLock { state -> Bool? in
            if let answer = state.answer, state.isAsking || now - answer.time < .seconds(1) { return answer.isReady }
            // Who asks first of all while somebody finds out is told that it is not known to be ready.
            if state.isAsking { return false }
            state.isAsking = true
            return nil
        }
        if let known { return known }
        let isReady = await find()
        state.withLock { $0 = State(answer: (now, isReady)) }
        return isReady
    }
}
