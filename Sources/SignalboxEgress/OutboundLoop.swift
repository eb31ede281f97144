internal import CCurl
import Foundation
import SignalboxModel
import Synchronization

/// The thread of an ``OutboundHTTP``, and what belongs to it. It lives until it is stopped, or ended and through with what
/// is under way.
///
/// A class because it owns a thread and a C handle.
final class OutboundLoop: @unchecked Sendable {
    // Sendable: `shared` is behind a lock; `multi` and `idle` belong to the thread, but for `curl_multi_wakeup`, which
    // libcurl allows from anywhere.
    private let multi: UnsafeMutableRawPointer
    private let policy: AddressPolicy
    private let shared = Mutex(Shared())
    private let sockets = OpenSockets()
    private var idle: [UnsafeMutableRawPointer] = []
    private var running: [UnsafeMutableRawPointer: Transfer] = [:]

    private struct Shared {
        var submitted: [Transfer] = []
        var isStopping = false
        /// Whether nobody has any more to send.
        var isEnding = false
        var isAsleep = false
        var hasThread = false
    }

    private static let initialised: Bool = {
        // OpenSSL writes in a way that a server which hung up would end the process by, and libcurl leaves this to us.
        signal(SIGPIPE, SIG_IGN)
        // By this libcurl knows that URLs are UTF-8; without, it takes no names with letters beyond ASCII.
        setlocale(LC_CTYPE, "C.UTF-8")
        return curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
    }()

    init(policy: AddressPolicy) {
        precondition(Self.initialised, "libcurl could not be initialised.")
        guard let multi = curl_multi_init() else { preconditionFailure("No memory for libcurl.") }
        self.multi = multi
        self.policy = policy
        // How many requests are under way is for those to bound who send them; this many idle connections are kept.
        sb_curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, 1024)
    }

    deinit {
        for handle in idle { curl_easy_cleanup(handle) }
        curl_multi_cleanup(multi)
    }

    /// Fails what is under way and what comes later with ``TransportError/stopped``, and ends the thread.
    func stop() { wakeAfter { $0.isStopping = true } }

    /// Ends the thread, and with it the connections, once nothing is under way.
    func end() { wakeAfter { $0.isEnding = true } }

    private func wakeAfter(_ change: (inout sending Shared) -> Void) {
        let wake = shared.withLock { shared in
            change(&shared)
            return shared.hasThread
        }
        if wake { curl_multi_wakeup(multi) }
    }

    /// Begins a request as soon as the thread comes to it.
    func submit(_ request: OutboundRequest, completion: CheckedContinuation<OutboundResult, Never>) {
        let transfer = Transfer(request, policy: policy, sockets: sockets, completion: completion)
        let (refused, wake) = shared.withLock { shared in
            guard !shared.isStopping else { return (true, false) }
            shared.submitted.append(transfer)
            if !shared.hasThread { startThread() }
            shared.hasThread = true
            let wake = shared.isAsleep
            shared.isAsleep = false
            return (false, wake)
        }
        if refused { transfer.fail(.stopped) }
        if wake { curl_multi_wakeup(multi) }
    }

    // A thread of its own, because curl_multi_poll blocks: on Swift's pool it would take a core from everyone.
    private func startThread() {
        let thread = Thread { [self] in run() }
        thread.name = "signalbox-http"
        thread.start()
    }

    // MARK: On the thread

    private func run() {
        while let transfers = takeSubmitted() {
            for transfer in transfers { begin(transfer) }
            var active: Int32 = 0
            curl_multi_perform(multi, &active)
            finishDone()
            if isThrough() { return }
            if goToSleep() { curl_multi_poll(multi, nil, 0, 1000, nil) }
        }
        for (handle, transfer) in running {
            curl_multi_remove_handle(multi, handle)
            curl_easy_cleanup(handle)
            transfer.fail(.stopped)
        }
        running.removeAll()
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

    private func begin(_ transfer: Transfer) {
        guard let handle = idle.popLast() ?? curl_easy_init() else { return transfer.fail(.interrupted("no memory")) }
        do throws(TransportError) {
            try transfer.prepare(handle)
            guard curl_multi_add_handle(multi, handle) == CURLM_OK else { throw .unusable("libcurl refused it") }
            running[handle] = transfer
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
