/// Divides a computation into slices of a few milliseconds, up to a deadline: other tasks run between two slices.
package struct WorkSlices: Sendable {
    private static let length: Duration = .milliseconds(5)

    private let now: @Sendable () -> ContinuousClock.Instant
    private let end: ContinuousClock.Instant
    private var pause: ContinuousClock.Instant

    /// The deadline is `limit` from now on. `now`: tests replace it.
    package init(upTo limit: Duration, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        let start = now()
        (self.now, end, pause) = (now, start + limit, start + Self.length)
    }

    /// Called before each step. Lets other tasks run when the slice is over. Returns false after the deadline.
    package mutating func advance() async -> Bool {
        let time = now()
        guard time < end else { return false }
        if time >= pause {
            await Task.yield()
            pause = now() + Self.length
        }
        return true
    }
}
