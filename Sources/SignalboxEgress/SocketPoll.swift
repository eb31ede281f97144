internal import CCurl
import Foundation

/// Waits for sockets to become ready, by epoll: idle sockets cost nothing.
///
/// Pauses a socket that is ready for writing only, ``streak`` times in a row: libcurl 7.88 waits for writing also
/// while the window of an HTTP/2 stream is closed, so each wait would end at once. During the pause, the socket is
/// watched for reading as before: the frame that opens the window ends the pause. A long upload continues after it.
///
/// One thread uses it; any thread may call ``wake()``. A class because it owns descriptors.
final class SocketPoll: @unchecked Sendable {
    // Sendable: the descriptors never change, and only the waiting thread uses the rest.
    private let epoll: Int32
    private let wakeUp: Int32
    private var watched: [Int32: Socket] = [:]
    private var paused: [Int32] = []
    /// When the paused sockets are watched for writing again.
    private var pauseEnd = ContinuousClock.now
    private var events = [epoll_event](repeating: epoll_event(), count: 256)

    /// The time that a socket is not watched for writing.
    var pause = Duration.milliseconds(5)
    /// libcurl writes up to 64 KiB each time, so that bodies up to some MB are sent without a pause.
    static let streak = 64

    private struct Socket {
        /// The events that libcurl waits for.
        let events: UInt32
        /// How often in a row it was ready for writing only.
        var writes = 0
    }

    /// A socket with the events that it is ready for.
    struct Ready {
        let socket: Int32
        /// `CURL_CSELECT_IN` and so on, for `curl_multi_socket_action`.
        let mask: Int32
    }

    /// Throws ``TransportError/exhausted(_:)`` when the process is out of descriptors.
    init() throws(TransportError) {
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard epoll >= 0 else { throw .exhausted(String(cString: strerror(errno))) }
        wakeUp = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard wakeUp >= 0, control(EPOLL_CTL_ADD, wakeUp, EPOLLIN.rawValue) else {
            throw .exhausted(String(cString: strerror(errno)))
        }
    }

    deinit {
        for descriptor in [epoll, wakeUp] where descriptor >= 0 { close(descriptor) }
    }

    /// Watches a socket for these events (`CURL_POLL_IN` and so on) and no other events. Replaces the events of a
    /// socket that is watched already. Only the waiting thread may call it.
    func watch(_ socket: Int32, for what: Int32) {
        let events =
            (what & CURL_POLL_IN != 0 ? EPOLLIN.rawValue : 0) | (what & CURL_POLL_OUT != 0 ? EPOLLOUT.rawValue : 0)
        guard events != 0 else { return forget(socket) }
        // epoll forgets a closed socket, and a new socket may have its number by now.
        let isKnown = watched[socket] != nil
        let isWatched =
            control(isKnown ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, events)
            || control(isKnown ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, socket, events)
        // Without memory to watch the socket, its transfer times out.
        if isWatched { watched[socket] = Socket(events: events) }
    }

    /// Stops watching a socket. Does nothing for a socket that is not watched. It may be closed already.
    func forget(_ socket: Int32) {
        if watched.removeValue(forKey: socket) != nil { control(EPOLL_CTL_DEL, socket, 0) }
    }

    /// Returns false if the kernel rejects the operation, for instance for a closed descriptor.
    @discardableResult
    private func control(_ operation: Int32, _ socket: Int32, _ events: UInt32) -> Bool {
        var event = epoll_event(events: events, data: epoll_data_t(fd: socket))
        return epoll_ctl(epoll, operation, socket, &event) == 0
    }

    /// Waits until a socket is ready, ``wake()`` is called or the time is over; calls `ready` for each ready socket.
    /// At most 256 sockets in one call; the rest follows in the next. A signal or the end of a pause ends the wait
    /// early.
    func wait(atMost time: Duration, _ ready: (Ready) -> Void) {
        let (seconds, attoseconds) = untilPauseEnds(atMost: time).components
        // Rounded up, so that it never returns before the time.
        let milliseconds = seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        let count = epoll_wait(epoll, &events, Int32(events.count), Int32(clamping: max(0, milliseconds)))
        for event in events.prefix(Int(max(0, count))) {
            let socket = event.data.fd
            guard socket != wakeUp else {
                var times: UInt64 = 0
                read(wakeUp, &times, MemoryLayout.size(ofValue: times))
                continue
            }
            record(event.events, of: socket)
            ready(Ready(socket: socket, mask: Self.mask(of: event.events)))
        }
    }

    /// Counts how often in a row a socket was ready for writing only. Begins and ends its pause.
    private func record(_ events: UInt32, of socket: Int32) {
        let isWrite = events == EPOLLOUT.rawValue
        guard let known = watched[socket], isWrite || known.writes > 0 else { return }
        let writes = isWrite ? known.writes + 1 : 0
        watched[socket]?.writes = writes
        guard writes >= Self.streak else {
            if known.writes >= Self.streak { control(EPOLL_CTL_MOD, socket, known.events) }
            return
        }
        control(EPOLL_CTL_MOD, socket, known.events & ~EPOLLOUT.rawValue)
        if paused.isEmpty { pauseEnd = .now + pause }
        paused.append(socket)
    }

    /// The time to wait. Watches paused sockets again when their pause is over.
    private func untilPauseEnds(atMost time: Duration) -> Duration {
        guard !paused.isEmpty else { return time }
        let rest = pauseEnd - .now
        guard rest <= .zero else { return min(time, rest) }
        for socket in paused {
            // Other sockets may have its number by now.
            guard let events = watched[socket]?.events else { continue }
            control(EPOLL_CTL_MOD, socket, events)
        }
        paused.removeAll(keepingCapacity: true)
        return time
    }

    /// Translates epoll events to those of libcurl. A hang-up counts as readable: the read reports the end.
    private static func mask(of events: UInt32) -> Int32 {
        var mask: Int32 = 0
        if events & (EPOLLIN.rawValue | EPOLLHUP.rawValue) != 0 { mask |= CURL_CSELECT_IN }
        if events & EPOLLOUT.rawValue != 0 { mask |= CURL_CSELECT_OUT }
        if events & EPOLLERR.rawValue != 0 { mask |= CURL_CSELECT_ERR }
        return mask
    }

    /// Ends the current ``wait(atMost:_:)`` or the next one. Any thread may call it. Wake-ups before a wait count as
    /// one.
    func wake() {
        var once: UInt64 = 1
        write(wakeUp, &once, MemoryLayout.size(ofValue: once))
    }
}
