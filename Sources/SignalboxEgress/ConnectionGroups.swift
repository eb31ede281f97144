internal import CCurl
import Foundation

/// The connections of the groups of one loop, bounded in number and in idle time. Only the loop's thread uses it.
struct ConnectionGroups {
    private let limits: ConnectionGroup.Limits
    private let watcher: SocketWatcher
    private var sets: [ConnectionGroup: ConnectionSet] = [:]
    /// Connections that seem dead, while requests wait on them.
    private var retired: [ConnectionSet] = []
    /// The connections of every group, in no order.
    private(set) var all: [ConnectionSet] = []

    init(_ limits: ConnectionGroup.Limits, _ watcher: SocketWatcher) {
        self.limits = limits
        self.watcher = watcher
    }

    /// The connections of a group; new ones for a new group. Throws ``TransportError/exhausted(_:)`` when there
    /// are too many groups with requests in progress.
    mutating func connections(of group: ConnectionGroup) throws(TransportError) -> ConnectionSet {
        if let set = sets[group] { return set }
        if sets.count >= limits.most {
            let idle = sets.filter { $0.value.running == 0 }
            guard let oldest = idle.min(by: { $0.value.lastUse < $1.value.lastUse }) else {
                throw .exhausted("\(limits.most) senders have requests in progress")
            }
            end(oldest.key)
        }
        let watcher = watcher
        let set = ConnectionSet(idleConnections: nil) { watcher.watch($1, for: $2, of: $0) }
        sets[group] = set
        all.append(set)
        return set
    }

    /// Records the result of a request that began at `begun`. A connection on which nothing arrived between the
    /// request and its timeout gets no further requests: a network may drop a connection silently, and TCP
    /// notices that after many minutes.
    mutating func record(
        _ result: OutboundResult, of group: ConnectionGroup, on set: ConnectionSet,
        begunAt begun: ContinuousClock.Instant
    ) {
        switch result.answer {
        case .success: set.lastReply = .now
        case .failure(.timeoutReplying):
            guard sets[group] === set, !set.hasReplied(since: begun) else { return }
            sets[group] = nil
            retired.append(set)
        case .failure: break
        }
    }

    /// Closes the connections of groups that have been idle for too long.
    mutating func endIdle() {
        guard !all.isEmpty else { return }
        for set in retired where set.running == 0 { close(set) }
        retired.removeAll { $0.running == 0 }
        let latest = ContinuousClock.now - limits.idle
        for (group, set) in sets where set.running == 0 && set.lastUse < latest { end(group) }
    }

    private mutating func end(_ group: ConnectionGroup) {
        guard let set = sets.removeValue(forKey: group) else { return }
        close(set)
    }

    private mutating func close(_ set: ConnectionSet) {
        watcher.forget(set)
        all.removeAll { $0 === set }
    }
}

/// The sockets that libcurl waits for, with the connections that they belong to. Only the loop's thread uses it.
///
/// A class because the callbacks of all connection sets share it.
final class SocketWatcher {
    /// Set while the thread runs.
    var poll: SocketPoll?
    /// Sockets of groups; all others belong to the common connections.
    private var owners: [curl_socket_t: Owner] = [:]

    /// Weak, because a set keeps a closure that refers to the watcher.
    private struct Owner {
        weak var set: ConnectionSet?
    }

    /// `owner`: nil for the common connections.
    func watch(_ socket: curl_socket_t, for what: Int32, of owner: ConnectionSet?) {
        if what == CURL_POLL_REMOVE { poll?.forget(socket) } else { poll?.watch(socket, for: what) }
        // The system may reuse the number of a closed socket in another set.
        owners[socket] = what == CURL_POLL_REMOVE ? nil : owner.map { Owner(set: $0) }
    }

    /// Nil for a socket of the common connections.
    func owner(of socket: curl_socket_t) -> ConnectionSet? { owners.isEmpty ? nil : owners[socket]?.set }

    /// Stops watching the sockets of a set that ends.
    func forget(_ set: ConnectionSet) {
        for (socket, owner) in owners where owner.set === set {
            poll?.forget(socket)
            owners[socket] = nil
        }
    }
}
