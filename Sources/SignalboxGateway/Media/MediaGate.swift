import SignalboxNotification
import Synchronization

/// The downloads in flight, and whether more may start.
///
/// A class with a lock because downloads end on their own tasks, and any thread may stop the service. The lock is
/// held only for the change itself.
final class MediaGate: Sendable {
    private let current = Mutex(State())

    /// A copy at one moment; the counts may change right after.
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

    /// All values of one moment, for decisions that need several of them.
    var state: State { current.withLock { $0 } }
    /// Read before each step of the service.
    var isStopping: Bool { current.withLock { $0.isStopping } }

    /// The job counts until ``end(_:)``, even while its result is being recorded.
    func begin(_ job: MediaJob) { current.withLock { $0.hosts[job.id] = job.host } }
    /// The job no longer counts, in total and for its host.
    func end(_ job: MediaJob) { current.withLock { $0.hosts[job.id] = nil } }
    /// Ends the service once no delivery waits. Until then, downloads still start.
    func drain() { current.withLock { $0.isDraining = true } }
    /// Cannot be undone.
    func stop() { current.withLock { $0.isStopping = true } }
}
