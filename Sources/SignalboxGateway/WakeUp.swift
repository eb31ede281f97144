/// A wait that ends with a signal or after a time. The lanes, the downloads, the media janitor and the config watch
/// all sleep with it.
///
/// A signal that arrives while no task waits ends the next wait, so none is lost between a check and a sleep. Several
/// signals before a wait end it once. Copies share the signal, so one copy can wake while another waits.
struct WakeUp: Sendable {
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    /// No signal is pending at first.
    init() { (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1)) }

    /// Ends the wait. Callable from any thread. Returns at once, and has no effect after a waiting task was cancelled.
    func wake() { signal.yield() }

    /// Returns after ``wake()``, or after `time`; nil waits without limit. Returns false if the task was cancelled:
    /// no signal arrives after that. One task may wait at a time. `clock` sleeps for the alarm; tests pass their own.
    func wait(atMost time: Duration? = nil, by clock: any Clock<Duration> = ContinuousClock()) async -> Bool {
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

    /// Waits for a signal. False after a cancellation.
    private func next() async -> Bool {
        var iterator = signals.makeAsyncIterator()
        return await iterator.next() != nil
    }
}
