/// For one who waits until there is something to do, or until some time has passed.
///
/// A wake-up that comes while nobody waits counts for the next wait, so none is lost between a look and a sleep.
struct WakeUp: Sendable {
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    init() { (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1)) }

    /// Ends the wait; however often it is called before the next one, that is ended once.
    func wake() { signal.yield() }

    /// Returns once somebody called ``wake()``, or the time has passed; nil waits for as long as it takes. False when the
    /// task was cancelled: there are no wake-ups any more then.
    func wait(atMost time: Duration?, by clock: any Clock<Duration>) async -> Bool {
        guard let time else { return await next() }
        return await withTaskGroup { alarm in
            alarm.addTask {
                do { try await clock.sleep(for: time) } catch { return }
                signal.yield()
            }
            let isAwake = await next()
            alarm.cancelAll()
            return isAwake
        }
    }

    private func next() async -> Bool {
        var iterator = signals.makeAsyncIterator()
        return await iterator.next() != nil
    }
}
