internal import CCurl
import Foundation
import Synchronization

/// The thread of an ``OutboundHTTP`` with its state. It runs until it is stopped, or until it is ended and has no
/// pending requests.
///
/// A class because it owns a thread and a C handle.
final class OutboundLoop: @unchecked Sendable {
    // Sendable: a lock guards `shared`; only the thread uses the rest, once it runs.
    private var groups: ConnectionGroups
    private let makePoll: @Sendable () throws(TransportError) -> SocketPoll
    private let watcher = SocketWatcher()
    private let policy: AddressPolicy
    private let shared = Mutex(Shared())
    private let sockets = OpenSockets()
    private var idle: [UnsafeMutableRawPointer] = []
    private var running: [UnsafeMutableRawPointer: Running] = [:]
    /// When ``tryNextAddresses()`` acts again.
    private var nextTry = ContinuousClock.now

    /// A transfer with the connections that it uses.
    private struct Running {
        let transfer: Transfer
        let connections: ConnectionSet
    }

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
        policy: AddressPolicy, idleConnections: Int, groups: ConnectionGroup.Limits = ConnectionGroup.Limits(),
        makePoll: @escaping @Sendable () throws(TransportError) -> SocketPoll = SocketPoll.init
    ) {
        precondition(Self.initialised, "libcurl could not be initialised.")
        (self.policy, self.makePoll) = (policy, makePoll)
        self.groups = ConnectionGroups(groups, idleConnections: idleConnections, watcher)
    }

    deinit {
        for handle in idle { curl_easy_cleanup(handle) }
    }

    /// Fails pending and later requests with ``TransportError/stopped`` and ends the thread. Stopping wins over ending.
    /// Any thread may call it.
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
    func submit(_ request: OutboundRequest, completion: @escaping Transfer.Completion) {
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
        } catch { transfer.fail(error) }
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
        watcher.poll = poll
        let common = groups.common
        var ready: [SocketPoll.Ready] = []
        while let transfers = takeSubmitted() {
            for event in ready { (watcher.owner(of: event.socket) ?? common).perform(event.socket, event.mask) }
            for transfer in transfers { begin(transfer) }
            common.performDue()
            for connections in groups.all { connections.performDue() }
            tryNextAddresses()
            finishDone(of: common)
            for connections in groups.all where connections.running > 0 { finishDone(of: connections) }
            if isFinished() { return }
            groups.endIdle()
            ready.removeAll(keepingCapacity: true)
            poll.wait(atMost: goToSleep() ? timeUntilDue() : .zero) { ready.append($0) }
        }
        for (handle, running) in running {
            running.connections.remove(handle)
            curl_easy_cleanup(handle)
            running.transfer.fail(.stopped)
        }
        running.removeAll()
    }

    /// At most one second, in case libcurl sets no timer.
    private func timeUntilDue() -> Duration {
        let due = groups.all.reduce(groups.common.due) { earliest, connections in
            [earliest, connections.due].compactMap { $0 }.min()
        }
        return min(due.map { $0 - .now } ?? .seconds(1), .seconds(1))
    }

    /// Lets libcurl try the next address of a name. libcurl 7.88 opens its socket only in the next call for the
    /// transfer, and sets no timer for that: the attempt would end with the timeout of the connection. At most once a
    /// second, because the call examines every transfer of the connections.
    private func tryNextAddresses() {
        guard nextTry <= .now else { return }
        nextTry = .now + .seconds(1)
        let connecting = Set(running.values.filter(\.transfer.isConnecting).map { ObjectIdentifier($0.connections) })
        for connections in [groups.common] + groups.all where connecting.contains(ObjectIdentifier(connections)) {
            connections.performAll()
        }
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
    private func isFinished() -> Bool { running.isEmpty && shared.withLock { $0.isEnding && $0.submitted.isEmpty } }

    /// Returns true if the thread may block. The flag is set under the lock, so a later ``submit(_:completion:)``
    /// wakes it.
    private func goToSleep() -> Bool {
        shared.withLock { shared in
            shared.isAsleep = shared.submitted.isEmpty && !shared.isStopping
            return shared.isAsleep
        }
    }

    /// Hands a transfer to libcurl with an idle or new handle. A transfer that cannot begin fails here.
    private func begin(_ transfer: Transfer) {
        guard let handle = idle.popLast() ?? curl_easy_init() else { return transfer.fail(.interrupted("no memory")) }
        do throws(TransportError) {
            let connections = try groups.connections(for: transfer.request)
            try transfer.prepare(handle)
            guard connections.add(handle) else { throw .unusable("libcurl refused it") }
            running[handle] = Running(transfer: transfer, connections: connections)
        } catch {
            release(handle)
            transfer.fail(error)
        }
    }

    /// Completes the transfers that libcurl reports as done, and repeats those that met leftover bytes.
    private func finishDone(of connections: ConnectionSet) {
        while let (handle, code) = connections.nextDone() {
            let transfer = running.removeValue(forKey: handle)?.transfer
            if let transfer, transfer.needsRepeat(code) {
                connections.remove(handle)
                release(handle)
                begin(transfer)
                continue
            }
            let result = transfer?.result(code, of: handle)
            if let transfer, let result, transfer.hasFoundSilence(result) {
                groups.replace(connections, of: transfer.request)
            }
            // Until it is reset, the handle points into the transfer.
            connections.remove(handle)
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
