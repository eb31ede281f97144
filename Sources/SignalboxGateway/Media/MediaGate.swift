import SignalboxNotification
import Synchronization

/// The downloads in flight, and how many more may start.
///
/// A class with a lock because downloads end on their own tasks, and any thread may stop the service.
final class MediaGate: Sendable {
    private let state = Mutex(State())

    private struct State {
        var running: [Int64: String] = [:]
        var busy: [String: Int] = [:]
        var isDraining = false
        var isStopping = false
    }

    /// The state that selects due downloads.
    struct Places {
        let free: Int
        let busy: [String: Int]
        let running: Set<Int64>
    }

    /// `limit`: maximum number of concurrent downloads.
    func places(of limit: Int) -> Places {
        state.withLock { state in
            Places(
                free: state.isStopping ? 0 : max(0, limit - state.running.count), busy: state.busy,
                running: Set(state.running.keys))
        }
    }

    func begin(_ job: MediaJob) {
        state.withLock { state in
            state.running[job.id] = job.host
            state.busy[job.host, default: 0] += 1
        }
    }

    func end(_ job: MediaJob) {
        state.withLock { state in
            guard let host = state.running.removeValue(forKey: job.id), let count = state.busy[host] else { return }
            state.busy[host] = count == 1 ? nil : count - 1
        }
    }

    /// Ends the service once no delivery waits.
    func drain() { state.withLock { $0.isDraining = true } }
    var isDraining: Bool { state.withLock { $0.isDraining } }

    /// Starts no further download.
    func stop() { state.withLock { $0.isStopping = true } }
    var isStopping: Bool { state.withLock { $0.isStopping } }
}
