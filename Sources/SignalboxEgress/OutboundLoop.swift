internal import CCurl
import Foundation
import SignalboxNotification
import Synchronization

/// The thread of an ``OutboundHTTP``, and what belongs to it. It lives until it is stopped, or ended and through with what
/// is under way.
///
/// A class because it owns a thread and a C handle.
final class OutboundLoop: @unchecked Sendable {
    // Sendable: `shared` is behind a lock; all else belongs to the thread, once there is one.
    private let multi: UnsafeMutableRawPointer
    private let makePoll: @Sendable () throws(TransportError) -> SocketPoll
    private var poll: SocketPoll?
    /// When libcurl is to be called though no socket has anything to say.
    private var due: ContinuousClock.Instant?
    private let policy: AddressPolicy
    private let shared = Mutex(Shared())
    private let sockets = OpenSockets()
    private var idle: [UnsafeMutableRawPointer] = []
    private var running: [UnsafeMutableRawPointer: Transfer] = [:]

    /// Connections that libcurl keeps.
    private var room = 0
    /// Of them, those that nobody uses.
    private let idleConnections: Int

    private struct Shared {
        var submitted: [Transfer] = []
        var isStopping = false
        /// Whether nobody has any more to send.
        var isEnding = false
        var isAsleep = false
        /// What the thread waits with; nil while there is none.
        var poll: SocketPoll?
    }

    private static let initialised: Bool = {
        // OpenSSL writes in a way that a server which hung up would end the process by, and libcurl leaves this to us.
        signal(SIGPIPE, SIG_IGN)
        // By this libcurl knows that URLs are UTF-8; without, it takes no names with letters beyond ASCII.
        setlocale(LC_CTYPE, "C.UTF-8")
        return curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
    }()

    /// `makePoll`: throws ``TransportError/exhausted(_:)`` when the system has no descriptors for it; asked again at the next
    /// request.
    init(
        policy: AddressPolicy, idleConnections: Int,
        makePoll: @escaping @Sendable () throws(TransportError) -> SocketPoll = SocketPoll.init
    ) {
        precondition(Self.initialised, "libcurl could not be initialised.")
        guard let multi = curl_multi_init() else { preconditionFailure("No memory for libcurl.") }
        self.multi = multi
        self.policy = policy
        self.idleConnections = idleConnections
        self.makePoll = makePoll
        setRoom()
        // Told which sockets are ready, libcurl looks at no others. Asked to look itself, it looks at all there are, again
        // and again, and servers that hang would slow down those that answer.
        let context = Unmanaged.passUnretained(self).toOpaque()
        sb_curl_multi_set_socket_callback(multi, Self.onSocket, context)
        sb_curl_multi_set_timer_callback(multi, Self.onTimer, context)
    }

    deinit {
        // There is no object any more that they could be called with.
        sb_curl_multi_set_socket_callback(multi, nil, nil)
        sb_curl_multi_set_timer_callback(multi, nil, nil)
        for handle in idle { curl_easy_cleanup(handle) }
        curl_multi_cleanup(multi)
    }

    /// Fails what is under way and what comes later with ``TransportError/stopped``, and ends the thread.
    func stop() { wakeAfter { $0.isStopping = true } }

    /// Ends the thread, and with it the connections, once nothing is under way.
    func end() { wakeAfter { $0.isEnding = true } }

    private func wakeAfter(_ change: (inout sending Shared) -> Void) {
        let poll = shared.withLock { shared in
            change(&shared)
            return shared.poll
        }
        poll?.wake()
    }

    /// Begins a request as soon as the thread comes to it.
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

    // A thread of its own, because waiting blocks: on Swift's pool it would take a core from everyone.
    private func startThread() throws(TransportError) -> SocketPoll {
        let poll = try makePoll()
        let thread = Thread { [self] in run(with: poll) }
        thread.name = "signalbox-http"
        thread.start()
        return poll
    }

    // MARK: On the thread

    private func run(with poll: SocketPoll) {
        self.poll = poll
        var ready: [SocketPoll.Ready] = []
        while let transfers = takeSubmitted() {
            for event in ready { perform(event.socket, event.mask) }
            for transfer in transfers { begin(transfer) }
            // What was begun is due at once.
            if let due, due <= .now {
                // libcurl says when it is due again, unless the call fails.
                self.due = running.isEmpty ? nil : .now + .seconds(1)
                perform(CURL_SOCKET_TIMEOUT, 0)
            }
            finishDone()
            if isThrough() { return }
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

    private func perform(_ socket: curl_socket_t, _ events: Int32) {
        var active: Int32 = 0
        curl_multi_socket_action(multi, socket, events, &active)
    }

    private func timeUntilDue() -> Duration { min(due.map { $0 - .now } ?? .seconds(1), .seconds(1)) }

    private static let onSocket: curl_socket_callback = { _, socket, what, context, _ in
        guard let context else { return 0 }
        let loop = Unmanaged<OutboundLoop>.fromOpaque(context).takeUnretainedValue()
        if what == CURL_POLL_REMOVE { loop.poll?.forget(socket) } else { loop.poll?.watch(socket, for: what) }
        return 0
    }

    private static let onTimer: curl_multi_timer_callback = { _, milliseconds, context in
        guard let context else { return 0 }
        let loop = Unmanaged<OutboundLoop>.fromOpaque(context).takeUnretainedValue()
        loop.due = milliseconds < 0 ? nil : .now + .milliseconds(milliseconds)
        return 0
    }

    /// What was submitted since the last time; nil when it is time to stop.
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

    private func isThrough() -> Bool {
        running.isEmpty && shared.withLock { $0.isEnding && $0.submitted.isEmpty }
    }

    private func goToSleep() -> Bool {
        shared.withLock { shared in
            shared.isAsleep = shared.submitted.isEmpty && !shared.isStopping
            return shared.isAsleep
        }
    }

    /// How many requests are under way is for those to bound who send them. libcurl's limit is of all connections: where
    /// those in use take it up, it closes every one that becomes idle, so they are not to count.
    private func setRoom() {
        let needed = idleConnections + running.count
        // In steps, for it is asked with every request.
        let step = idleConnections / 4
        guard needed > room || needed < room - 2 * step else { return }
        room = needed + step
        sb_curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, room)
    }

    private func begin(_ transfer: Transfer) {
        guard let handle = idle.popLast() ?? curl_easy_init() else { return transfer.fail(.interrupted("no memory")) }
        do throws(TransportError) {
            try transfer.prepare(handle)
            guard curl_multi_add_handle(multi, handle) == CURLM_OK else { throw .unusable("libcurl refused it") }
            running[handle] = transfer
            setRoom()
        } catch {
            release(handle)
            transfer.fail(error)
        }
    }

    private func finishDone() {
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle else { continue }
            let code = sb_curl_message_result(message)
            let transfer = running.removeValue(forKey: handle)
            setRoom()
            if let transfer, transfer.isToBeRepeated(code) {
                curl_multi_remove_handle(multi, handle)
                release(handle)
                begin(transfer)
                continue
            }
            let result = transfer?.result(code, of: handle)
            // The handle points into the transfer until it is reset.
            curl_multi_remove_handle(multi, handle)
            release(handle)
            if let transfer, let result { transfer.finish(result) }
        }
    }

    private func release(_ handle: UnsafeMutableRawPointer) {
        curl_easy_reset(handle)
        if idle.count < 256 { idle.append(handle) } else { curl_easy_cleanup(handle) }
    }
}
