import NIOCore

/// Watches the frames that a client sends, before they are decoded: floods that the HTTP/2 library does not limit, and
/// header blocks that do not end. A pure value. Reads the nine bytes of each frame's head (RFC 9113, 4.1).
struct FrameMeter {
    /// Frames of one kind that a connection may send without sending requests.
    struct Allowance {
        /// WINDOW_UPDATE frames, and two for each request.
        var windowUpdates = 1000
        /// Frames of unknown types.
        var unknown = 1000
        /// RST_STREAM frames in ``period``, and one more for each response without a body: libcurl 7.88 resets each
        /// stream after such a response. A client whose timeout ends a thousand requests at once stays connected.
        var resets = 2000
        /// PING, SETTINGS and PRIORITY frames in ``period``.
        var controls = 200
        /// A period begins with the first frame after the end of the previous period.
        var period: TimeAmount = .seconds(30)
    }

    private let allowance: Allowance
    /// Bytes of the connection preface, or of the payload of the current frame, that are still to come.
    private var skipped: Int
    /// The first bytes of the current frame's head, up to 9.
    private var head: [UInt8] = []
    /// Frames so far, minus two for each header block; negative after many requests.
    private var windowUpdates = 0
    /// Never reduced, unlike ``windowUpdates``.
    private var unknown = 0
    private var resets = Rate()
    private var controls = Rate()
    /// Whether a header block has begun and its last frame has not.
    private var isInHeaders = false

    /// `preface`: bytes of the preface that are still to come.
    init(_ allowance: Allowance = Allowance(), preface: Int) {
        self.allowance = allowance
        skipped = preface
        head.reserveCapacity(9)
    }

    /// Whether the client is within a frame or a header block. False within DATA, which has deadlines of its own.
    private(set) var isIncomplete = false

    /// Whether a frame that is not part of a header block in progress began with the last bytes.
    private(set) var hasBegun = false

    /// Returns false for a flood; the connection must close. Frames may be split at any byte. `now`: the time for the
    /// limits of a period.
    mutating func receive(_ bytes: ByteBuffer, at now: NIODeadline) -> Bool {
        hasBegun = false
        var view = bytes.readableBytesView
        while !view.isEmpty {
            if skipped > 0 {
                let count = min(skipped, view.count)
                skipped -= count
                view = view.dropFirst(count)
                continue
            }
            if head.isEmpty, !isInHeaders { hasBegun = true }
            let count = min(9 - head.count, view.count)
            head.append(contentsOf: view.prefix(count))
            view = view.dropFirst(count)
            guard head.count == 9 else { break }
            guard begin(at: now) else { return false }
        }
        let isInData = skipped > 0 && head.isEmpty && isData
        isIncomplete = isInHeaders || !head.isEmpty || (skipped > 0 && !isInData)
        return true
    }

    /// A request received a response without a body.
    mutating func answeredWithoutBody() { resets.permit() }

    /// Whether the last frame that began is DATA. Its bytes have the deadline of their body.
    private var isData = false

    /// Counts the frame whose head is complete. False if there are too many of its kind.
    private mutating func begin(at now: NIODeadline) -> Bool {
        skipped = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
        let (type, flags) = (head[3], head[4])
        head.removeAll(keepingCapacity: true)
        isData = type == 0
        let endsHeaders = flags & 0x4 != 0
        switch type {
        case 1:
            isInHeaders = !endsHeaders
            windowUpdates -= 2
        case 9: isInHeaders = !endsHeaders
        case 2, 4, 6: return controls.count(at: now, in: allowance.period) <= allowance.controls
        case 3: return resets.count(at: now, in: allowance.period) <= allowance.resets
        case 8:
            windowUpdates += 1
            return windowUpdates <= allowance.windowUpdates
        case 10...:
            unknown += 1
            return unknown <= allowance.unknown
        default: break
        }
        return true
    }

    /// Frames of some kinds within a period. The library remembers the time of each, which takes more memory than the
    /// rest of an idle connection's limits.
    private struct Rate {
        private var frames = 0
        /// The start of the present period; 0 before the first frame.
        private var since = NIODeadline.uptimeNanoseconds(0)

        /// Counts a frame, and returns the number in the present period.
        mutating func count(at now: NIODeadline, in period: TimeAmount) -> Int {
            if now - since > period { (frames, since) = (0, now) }
            frames += 1
            return frames
        }

        /// Permits a further frame in the present period.
        mutating func permit() { frames -= 1 }
    }
}
