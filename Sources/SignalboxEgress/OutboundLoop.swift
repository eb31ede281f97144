internal import CCurl
import Foundation
import SignalboxNotification
import Synchronization

/// The thread of an ``OutboundHTTP`` with its state. It runs until it is stopped, or until it is ended and has no
/// pending requests.
///
/// A class because it owns a thread and a C handle.
final class OutboundLoop: @unchecked Sendable {
    // Sendable: a lock guards `shared`; only the thread uses the rest, once it runs.
    private let multi: UnsafeMutableRawPointer
    private let makePoll: @Sendable () throws(TransportError) -> SocketPoll
    private var poll: SocketPoll?
    /// When to call libcurl even if no socket is ready.
    private var due: ContinuousClock.Instant?
    private let policy: AddressPolicy
    private let shared = Mutex(Shared())
    private let sockets = OpenSockets()
    private var idle: [UnsafeMutableRawPointer] = []
    private var running: [UnsafeMutableRawPointer: Transfer] = [:]
    /// The limit of connections, idle or in use, that libcurl has now.
    private var connectionLimit = 0
    private let idleConnections: Int

    /// State that callers and the thread share. The lock is never held during a call of libcurl or a wait.
    private struct Shared {
        var submitted: [Transfer] = []
        var isStopping = false
        var isEnding = false
        var isAsleep = false
        /// Set while the thread runs.
        var poll: SocketPoll?
    }

    private static let initialised: Bool = {
        // OpenSSL's writes raise SIGPIPE when a server hung up; libcurl leaves the signal to the process.
        signal(SIGPIPE, SIG_IGN)
        // Tells libcurl that URLs are UTF-8; otherwise it rejects names beyond ASCII.
        setlocale(LC_CTYPE, "C.UTF-8")
        return curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
    }()

    /// `makePoll`: throws ``TransportError/exhausted(_:)`` when the process is out of descriptors; called again at the
    /// next request.
    init(
        policy: AddressPolicy, idleConnections: Int,
        makePoll: @escaping @Sendable () throws(TransportError) -> SocketPoll = SocketPoll.init
    ) {
        precondition(Self.initialised, "libcurl could not be initialised.")
        guard let multi = curl_multi_init() else { preconditionFailure("Out of memory for libcurl.") }
        self.multi = multi
        self.policy = policy
        self.idleConnections = idleConnections
        self.makePoll = makePoll
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
        for handle in idle { curl_easy_cleanup(handle) }
        curl_multi_cleanup(multi)
    }

    /// Fails pending requests and later ones with ``TransportError/stopped`` and ends the thread. Stopping wins over
    /// ending. Any thread may call it.
    func stop() { wakeAfter { $0.isStopping = true } }

    /// Ends the thread and closes its connections once no request is pending.
    func end() { wakeAfter { $0.isEnding = true } }

    /// Changes the flags under the lock, then wakes the thread, if there is one.
    private func wakeAfter(_ change: (inout sending Shared) -> Void) {
        let poll = shared.withLock { shared in
            change(&shared)
            return shared.poll
        }
        poll?.wake()
    }

    /// Hands a request to the thread. Starts the thread with the first request. Fails the request at once when the
    /// loop is stopped or no descriptor is left. Wakes the thread only if it sleeps, so a burst of requests costs one
    /// wake-up.
    func submit(_ request: OutboundRequest, completion: CheckedContinuation<OutboundResult, Never>) {
        let transfer = Transfer(request, policy: policy, sockets: sockets, completion: completion)
        do throws(TransportError) {
            let sleeper = try shared.withLock { (shared) throws(TransportError) -> SocketPoll? in
                guard !shared.isStopping else { throw .stopped }
                if shared.poll == nil { shared.poll = try startThread() }
                shared.submitted.append(transfer)
                defer { shared.isAsleep = false }
                return shared.isAsleep ? shared.poll : nil
            }
            sleeper?.wake()
        } catch {
            transfer.fail(error)
        }
    }

    // Not on Swift's pool: waiting blocks, and the pool has one thread for each core.
    private func startThread() throws(TransportError) -> SocketPoll {
        let poll = try makePoll()
        let thread = Thread { [self] in run(with: poll) }
        thread.name = "signalbox-http"
        thread.start()
        return poll
    }

    // MARK: On the thread

    /// Handles ready sockets, new transfers, timers and finished transfers in turn, until the loop stops or ends. On
    /// a stop it fails the transfers that are still running.
    private func run(with poll: SocketPoll) {
        self.poll = poll
        var ready: [SocketPoll.Ready] = []
        while let transfers = takeSubmitted() {
            for event in ready { perform(event.socket, event.mask) }
            for transfer in transfers { begin(transfer) }
            // New transfers are due at once.
            if let due, due <= .now {
                // libcurl sets the next time, unless the call fails.
                self.due = running.isEmpty ? nil : .now + .seconds(1)
                perform(CURL_SOCKET_TIMEOUT, 0)
            }
            finishDone()
            if isFinished() { return }
            ready.removeAll(keepingCapacity: true)
            poll.wait(atMost: goToSleep() ? timeUntilDue() : .zero) { ready.append($0) }
        }
        for (handle, transfer) in running {
            curl_multi_remove_handle(multi, handle)
            curl_easy_cleanup(handle)
            transfer.fail(.stopped)
        }
        running.removeAll()
    }

    /// Lets libcurl act on a socket, or on its timers for `CURL_SOCKET_TIMEOUT`.
    private func perform(_ socket: curl_socket_t, _ events: Int32) {
        var active: Int32 = 0
        curl_multi_socket_action(multi, socket, events, &active)
    }

    /// At most one second, in case libcurl sets no timer.
    private func timeUntilDue() -> Duration { min(due.map { $0 - .now } ?? .seconds(1), .seconds(1)) }

    /// libcurl calls this to change the events that it waits for on a socket.
    private static let onSocket: curl_socket_callback = { _, socket, what, context, _ in
        guard let context else { return 0 }
        let loop = Unmanaged<OutboundLoop>.fromOpaque(context).takeUnretainedValue()
        if what == CURL_POLL_REMOVE { loop.poll?.forget(socket) } else { loop.poll?.watch(socket, for: what) }
        return 0
    }

    /// libcurl calls this with the time until its next timer, in milliseconds; -1 for none.
    private static let onTimer: curl_multi_timer_callback = { _, milliseconds, context in
        guard let context else { return 0 }
        let loop = Unmanaged<OutboundLoop>.fromOpaque(context).takeUnretainedValue()
        loop.due = milliseconds < 0 ? nil : .now + .milliseconds(milliseconds)
        return 0
    }

    /// The requests submitted since the last call; nil when the thread is to stop.
    private func takeSubmitted() -> [Transfer]? {
        let (transfers, isStopping) = shared.withLock { shared in
            defer { shared.submitted = [] }
            shared.isAsleep = false
            return (shared.submitted, shared.isStopping)
        }
        guard isStopping else { return transfers }
        for transfer in transfers { transfer.fail(.stopped) }
        return nil
    }

    /// True if the last reference to the client is gone and every request has its result.
    private func isFinished() -> Bool {
        running.isEmpty && shared.withLock { $0.isEnding && $0.submitted.isEmpty }
    }

    /// Returns true if the thread may block. The flag is set under the lock, so a later ``submit(_:completion:)``
    /// wakes it.
    private func goToSleep() -> Bool {
        shared.withLock { shared in
            shared.isAsleep = shared.submitted.isEmpty && !shared.isStopping
            return shared.isAsleep
        }
    }

    /// Adds the connections in use to libcurl's limit. It counts all connections: once those in use reach it, libcurl
    /// closes every connection that becomes idle. Senders bound the number of requests themselves.
    private func updateConnectionLimit() {
        let needed = idleConnections + running.count
        // In steps, because every request calls this.
        let step = idleConnections / 4
        guard needed > connectionLimit || needed < connectionLimit - 2 * step else { return }
        connectionLimit = needed + step
        sb_curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, connectionLimit)
    }

    /// Hands a transfer to libcurl with an idle or new handle. A transfer that cannot begin fails here.
    private func begin(_ transfer: Transfer) {
        guard let handle = idle.popLast() ?? curl_easy_init() else { return transfer.fail(.interrupted("no memory")) }
        do throws(TransportError) {
            try transfer.prepare(handle)
            guard curl_multi_add_handle(multi, handle) == CURLM_OK else { throw .unusable("libcurl refused it") }
            running[handle] = transfer
            updateConnectionLimit()
        } catch {
            release(handle)
            transfer.fail(error)
        }
    }

    /// Completes the transfers that libcurl reports as done, and repeats those that met leftover bytes.
    private func finishDone() {
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle else { continue }
            let code = sb_curl_message_result(message)
            let transfer = running.removeValue(forKey: handle)
            updateConnectionLimit()
            if let transfer, transfer.needsRepeat(code) {
                curl_multi_remove_handle(multi, handle)
                release(handle)
                begin(transfer)
                continue
            }
            let result = transfer?.result(code, of: handle)
            // Until it is reset, the handle points into the transfer.
            curl_multi_remove_handle(multi, handle)
            release(handle)
            if let transfer, let result { transfer.finish(result) }
        }
    }

    /// Resets a handle for reuse. Keeps at most 256; connections belong to the multi handle and stay open.
    private func release(_ handle: UnsafeMutableRawPointer) {
        curl_easy_reset(handle)
        if idle.count < 256 { idle.append(handle) } else { curl_easy_cleanup(handle) }
    }
}
