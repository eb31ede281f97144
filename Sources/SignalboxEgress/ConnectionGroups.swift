internal import CCurl
import Foundation

/// The connections of one loop: those that ordinary requests share, and those of groups. Bounds the groups in number
/// and in idle time. Only the loop's thread uses it.
struct ConnectionGroups {
    /// The connections of requests without a group, except those of ``Owner/origin(_:)``.
    let common: ConnectionSet
    private let limits: ConnectionGroup.Limits
    private let idleConnections: Int
    private let watcher: SocketWatcher
    private var sets: [Owner: ConnectionSet] = [:]
    /// How many of the sets belong to an origin.
    private var origins = 0
    /// Connections that seem dead, while requests wait on them.
    private var retired: [ConnectionSet] = []
    /// The sets besides ``common``, in no order.
    private(set) var all: [ConnectionSet] = []

    /// The requests that use a set.
    private enum Owner: Hashable {
        case group(ConnectionGroup)
        /// Requests without a group to a server whose common connection seems dead: `https://host:port`.
        case origin(String)
    }

    /// `idleConnections`: see ``OutboundHTTP``.
    init(_ limits: ConnectionGroup.Limits, idleConnections: Int = 1024, _ watcher: SocketWatcher) {
        (self.limits, self.idleConnections, self.watcher) = (limits, idleConnections, watcher)
        common = ConnectionSet(idleConnections: idleConnections) { watcher.watch($1, for: $2, of: nil) }
    }

    /// The connections for a request; new ones for a new group. Throws ``TransportError/exhausted(_:)`` when there
    /// are too many groups with requests in progress.
    mutating func connections(for request: OutboundRequest) throws(TransportError) -> ConnectionSet {
        if let group = request.group { return try connections(of: group) }
        guard origins > 0 else { return common }
        return sets[.origin(Self.origin(of: request.url))] ?? common
    }

    /// The connections of a group; see ``connections(for:)``.
    mutating func connections(of group: ConnectionGroup) throws(TransportError) -> ConnectionSet {
        if let set = sets[.group(group)] { return set }
        guard makeRoom() else { throw .exhausted("\(limits.most) senders have requests in progress") }
        return add(.group(group), idleConnections: nil)
    }

    /// Ends the set that has been idle longest if there are too many. False if none is idle.
    private mutating func makeRoom() -> Bool {
        guard sets.count >= limits.most else { return true }
        let idle = sets.filter { $0.value.running == 0 }
        guard let oldest = idle.min(by: { $0.value.lastUse < $1.value.lastUse }) else { return false }
        end(oldest.key)
        return true
    }

    private mutating func add(_ owner: Owner, idleConnections: Int?) -> ConnectionSet {
        let watcher = watcher
        let set = ConnectionSet(idleConnections: idleConnections) { watcher.watch($1, for: $2, of: $0) }
        sets[owner] = set
        if case .origin = owner { origins += 1 }
        all.append(set)
        return set
    }

    /// Replaces a connection on which nothing arrived between a request and its timeout: a network may drop a
    /// connection silently, and TCP notices that after many minutes. Requests in progress stay on it; later requests of
    /// the group use another connection. Without a group, later requests to the same origin do. `set`: the connections
    /// that the request used.
    mutating func replace(_ set: ConnectionSet, of request: OutboundRequest) {
        let owner = request.group.map { Owner.group($0) } ?? .origin(Self.origin(of: request.url))
        if sets[owner] === set {
            remove(owner)
            retired.append(set)
        } else if set !== common || sets[owner] != nil {
            // Replaced by an earlier timeout.
            return
        }
        if request.group == nil, makeRoom() { _ = add(owner, idleConnections: idleConnections) }
    }

    /// Scheme, host and port, as the URL spells them. Two spellings of an origin only cost a timeout each.
    private static func origin(of url: String) -> String {
        guard let scheme = url.firstRange(of: "://") else { return url }
        return String(url[..<(url[scheme.upperBound...].firstIndex { "/?#".contains($0) } ?? url.endIndex)])
    }

    /// Closes the connections of groups that have been idle for too long.
    mutating func endIdle() {
        guard !all.isEmpty else { return }
        for set in retired where set.running == 0 { close(set) }
        retired.removeAll { $0.running == 0 }
        let latest = ContinuousClock.now - limits.idle
        for (owner, set) in sets where set.running == 0 && set.lastUse < latest { end(owner) }
    }

    private mutating func end(_ owner: Owner) {
        if let set = remove(owner) { close(set) }
    }

    @discardableResult
    private mutating func remove(_ owner: Owner) -> ConnectionSet? {
        guard let set = sets.removeValue(forKey: owner) else { return nil }
        if case .origin = owner { origins -= 1 }
        return set
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
