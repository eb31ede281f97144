internal import CCurl
import Foundation
import SignalboxModel
import Synchronization

/// The only way out of the process: HTTP requests by libcurl's multi interface on one thread, under one address policy.
///
/// Requests may be sent from anywhere at once; connections are kept and shared. Redirects are not followed, the
/// environment's proxies are not used unless a request asks for them, TLS is at least 1.2.
///
/// A class because it owns a thread and a C handle.
package final class OutboundHTTP: @unchecked Sendable {
    // Sendable: `shared` is behind a lock; `multi` and `idle` belong to the thread, but for `curl_multi_wakeup`, which
    // libcurl allows from anywhere.
    private let multi: UnsafeMutableRawPointer
    private let policy: AddressPolicy
    private let shared = Mutex(Shared())
    private var idle: [UnsafeMutableRawPointer] = []
    private var running: [UnsafeMutableRawPointer: Transfer] = [:]

    private struct Shared {
        var submitted: [Transfer] = []
        var isStopping = false
        var isAsleep = false
        var thread: Thread?
    }

    private static let initialised: Bool = {
        // OpenSSL writes in a way that a server which hung up would end the process by, and libcurl leaves this to us.
        signal(SIGPIPE, SIG_IGN)
        // By this libcurl knows that URLs are UTF-8; without, it takes no names with letters beyond ASCII.
        setlocale(LC_CTYPE, "C.UTF-8")
        return curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
    }()

    package init(policy: AddressPolicy) {
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

    /// Sends a request, waits for the whole reply, whatever its status, and says all there is to say of the attempt.
    package func attempt(_ request: OutboundRequest) async -> OutboundResult {
        await withCheckedContinuation { completion in
            submit(Transfer(request, policy: policy, completion: completion))
        }
    }

    /// The same, for whom the reply is enough.
    package func send(_ request: OutboundRequest) async throws(TransportError) -> OutboundReply {
        try await attempt(request).answer.get()
    }

    /// Fails what is under way with ``TransportError/stopped`` and ends the thread. Later requests fail likewise.
    package func stop() {
        let wake = shared.withLock { shared in
            shared.isStopping = true
            return shared.thread != nil
        }
        if wake { curl_multi_wakeup(multi) }
    }

    private func submit(_ transfer: Transfer) {
        let (refused, wake) = shared.withLock { shared in
            guard !shared.isStopping else { return (true, false) }
            shared.submitted.append(transfer)
            if shared.thread == nil { shared.thread = startThread() }
            let wake = shared.isAsleep
            shared.isAsleep = false
            return (false, wake)
        }
        if refused { transfer.fail(.stopped) }
        if wake { curl_multi_wakeup(multi) }
    }

    // A thread of its own, because curl_multi_poll blocks: on Swift's pool it would take a core from everyone.
    private func startThread() -> Thread {
        let thread = Thread { [self] in run() }
        thread.name = "signalbox-http"
        thread.start()
        return thread
    }

    // MARK: On the thread

    private func run() {
        while let transfers = takeSubmitted() {
            for transfer in transfers { begin(transfer) }
            var active: Int32 = 0
            curl_multi_perform(multi, &active)
            finishDone()
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
