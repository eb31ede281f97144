import SignalboxNotification
import Synchronization

/// The downloads in flight, and whether more may start.
///
/// A class with a lock because downloads end on their own tasks, and any thread may stop the service.
final class MediaGate: Sendable {
    private let current = Mutex(State())

    struct State {
        /// Hosts of the downloads in flight, by job.
        fileprivate(set) var hosts: [Int64: String] = [:]
        /// The service ends once no delivery waits.
        fileprivate(set) var isDraining = false
        /// No further download starts.
        fileprivate(set) var isStopping = false

        /// The number of downloads in flight for each host.
        var busy: [String: Int] { hosts.values.reduce(into: [:]) { $0[$1, default: 0] += 1 } }
    }

    var state: State { current.withLock { $0 } }
    var isStopping: Bool { state.isStopping }

    func begin(_ job: MediaJob) { current.withLock { $0.hosts[job.id] = job.host } }
    func end(_ job: MediaJob) { current.withLock { $0.hosts[job.id] = nil } }
    func drain() { current.withLock { $0.isDraining = true } }
    func stop() { current.withLock { $0.isStopping = true } }
}
