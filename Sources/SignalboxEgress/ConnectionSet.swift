internal import CCurl
import Foundation

/// One of libcurl's multi handles: connections that its transfers share with no other transfer. A loop has one for
/// ordinary requests, one for each ``ConnectionGroup``, and one for each origin whose ordinary connection seems dead.
///
/// A class because it owns a C handle, and libcurl's callbacks get its address. Only the thread of its loop uses it.
final class ConnectionSet {
    /// Receives what libcurl wants to wait for. The loop implements it.
    typealias SocketHandler = (ConnectionSet, _ socket: curl_socket_t, _ what: Int32) -> Void

    let multi: UnsafeMutableRawPointer
    /// When to call libcurl even if no socket is ready.
    private(set) var due: ContinuousClock.Instant?
    /// Transfers in progress.
    private(set) var running = 0
    /// When the last transfer began or ended.
    private(set) var lastUse = ContinuousClock.now
    private let onSocket: SocketHandler
    /// The limit of connections, idle or in use, that libcurl has now.
    private var connectionLimit = 0
    /// Nil for a set with one connection to its host.
    private let idleConnections: Int?

    /// The most streams of a connection; the server may permit fewer.
    private static let streams = 1000

    /// `idleConnections`: see ``OutboundHTTP``; nil for the set of a group.
    init(idleConnections: Int?, onSocket: @escaping SocketHandler) {
        guard let multi = curl_multi_init() else { preconditionFailure("Out of memory for libcurl.") }
        (self.multi, self.idleConnections, self.onSocket) = (multi, idleConnections, onSocket)
        if idleConnections == nil {
            // Transfers beyond the streams of the connection wait, instead of opening a second one.
            sb_curl_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, 1)
            sb_curl_multi_set_long(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, Self.streams)
        }
        updateConnectionLimit()
        // With these callbacks libcurl handles only sockets that are ready. Without them it examines every socket in
        // every call, so hanging servers would slow down the others.
        let context = Unmanaged.passUnretained(self).toOpaque()
        sb_curl_multi_set_socket_callback(multi, Self.onSocket, context)
        sb_curl_multi_set_timer_callback(multi, Self.onTimer, context)
    }

    deinit {
        // The cleanup must not call back into this object.
        sb_curl_multi_set_socket_callback(multi, nil, nil)
        sb_curl_multi_set_timer_callback(multi, nil, nil)
        curl_multi_cleanup(multi)
    }

    /// Adds a prepared transfer. Returns false if libcurl refuses it.
    func add(_ handle: UnsafeMutableRawPointer) -> Bool {
        guard curl_multi_add_handle(multi, handle) == CURLM_OK else { return false }
        count(1)
        return true
    }

    /// Removes a transfer, finished or not. Its connection stays open if it can be used again.
    func remove(_ handle: UnsafeMutableRawPointer) {
        curl_multi_remove_handle(multi, handle)
        count(-1)
    }

    private func count(_ change: Int) {
        running += change
        lastUse = .now
        updateConnectionLimit()
    }

    /// Lets libcurl act on a socket, or on its timers for `CURL_SOCKET_TIMEOUT`.
    func perform(_ socket: curl_socket_t, _ events: Int32) {
        var active: Int32 = 0
        curl_multi_socket_action(multi, socket, events, &active)
    }

    /// Lets libcurl act on every transfer, even if nothing is due for it.
    func performAll() {
        var active: Int32 = 0
        sb_curl_multi_socket_all(multi, &active)
    }

    /// Lets libcurl act on its timers if they are due. New transfers are due at once.
    func performDue() {
        guard let due, due <= .now else { return }
        // libcurl sets the next time, unless the call fails.
        self.due = running == 0 ? nil : .now + .seconds(1)
        perform(CURL_SOCKET_TIMEOUT, 0)
    }

    /// The next finished transfer with libcurl's code; nil when there is none.
    func nextDone() -> (handle: UnsafeMutableRawPointer, code: CURLcode)? {
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle else { continue }
            return (handle, sb_curl_message_result(message))
        }
        return nil
    }

    /// Adds the connections in use to libcurl's limit. It counts all connections: once those in use reach it, libcurl
    /// closes every connection that becomes idle. Senders bound the number of requests themselves.
    private func updateConnectionLimit() {
        guard let idleConnections else { return }
        let needed = idleConnections + running
        // In steps, because every request calls this.
        let step = idleConnections / 4
        guard needed > connectionLimit || needed < connectionLimit - 2 * step else { return }
        connectionLimit = needed + step
        sb_curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, connectionLimit)
    }

    /// libcurl calls this to change the events that it waits for on a socket.
    private static let onSocket: curl_socket_callback = { _, socket, what, context, _ in
        guard let context else { return 0 }
        let set = Unmanaged<ConnectionSet>.fromOpaque(context).takeUnretainedValue()
        set.onSocket(set, socket, what)
        return 0
    }

    /// libcurl calls this with the time until its next timer, in milliseconds; -1 for none.
    private static let onTimer: curl_multi_timer_callback = { _, milliseconds, context in
        guard let context else { return 0 }
        let set = Unmanaged<ConnectionSet>.fromOpaque(context).takeUnretainedValue()
        set.due = milliseconds < 0 ? nil : .now + .milliseconds(milliseconds)
        return 0
    }
}
