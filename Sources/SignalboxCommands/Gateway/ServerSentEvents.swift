/// Reads server-sent events (WHATWG HTML, 9.2) from pieces of any size. A pure value; it keeps one frame at most.
struct ServerSentEvents {
    /// One event of a stream.
    struct Frame: Sendable, Equatable {
        /// The field `event`; `message` without this field, as the standard says.
        var name = "message"
        /// The fields `data`, joined by line ends.
        var data = ""
        /// The last field `id` of the stream so far; nil before the first.
        var id: String?
    }

    /// A line, or the data of a frame, is longer than ``longest``.
    struct TooLong: Error, Equatable {}

    /// The most bytes of a line, and of the data of a frame.
    static let longest = 1 << 20

    /// The beginning of a line whose end has not arrived.
    private var line: [UInt8] = []
    /// The fields since the last empty line.
    private var frame = Frame()
    /// Whether ``frame`` has a field `data`, even an empty one.
    private var hasData = false
    /// The last position of the stream.
    private(set) var lastID: String?

    /// Passes each whole frame to `body`. Comments and frames without data are left out. Lines end in LF; CR is
    /// ignored. A lone CR, which the standard also permits, does not end a line.
    mutating func read(_ bytes: some Sequence<UInt8>, _ body: (Frame) -> Void) throws(TooLong) {
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\n"):
                try endLine(body)
                line.removeAll(keepingCapacity: true)
            case UInt8(ascii: "\r"): break
            default:
                guard line.count < Self.longest else { throw TooLong() }
                line.append(byte)
            }
        }
    }

    /// An empty line ends a frame. Fields other than `event`, `id` and `data` have no effect.
    private mutating func endLine(_ body: (Frame) -> Void) throws(TooLong) {
        guard !line.isEmpty else {
            if hasData {
                frame.id = lastID
                body(frame)
            }
            (frame, hasData) = (Frame(), false)
            return
        }
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        let name = String(decoding: line[..<colon], as: UTF8.self)
        var value = line[colon...].dropFirst()
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        let text = String(decoding: value, as: UTF8.self)
        switch name {
        case "event": frame.name = text
        case "id": lastID = text
        case "data":
            guard frame.data.utf8.count + text.utf8.count < Self.longest else { throw TooLong() }
            frame.data += hasData ? "\n" + text : text
            hasData = true
        default: break
        }
    }
}
