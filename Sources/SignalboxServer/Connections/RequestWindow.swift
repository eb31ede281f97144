import Foundation
import NIOCore

/// Decides how many bytes of a connection the HTTP parser may see now.
///
/// The parser sees one request at a time, and no further one while a response is pending. Pipelined requests wait as
/// bytes, because parsed requests take about thirty times the memory. Only bytes after a chunked body, whose end is not
/// known in advance, are parsed early. A pure value without a channel; ``InputGate`` and ``RequestGuard`` act on it. A
/// request passes through ``begin(length:isLast:)``, ``receive(_:)`` for each piece of its body, and ``endRequest()``.
/// Its ``endResponse()`` may come before the last of them. The window admits the next request after both.
struct RequestWindow {
    /// Bytes of a chunked body that pass at once.
    static let chunkedStep = 4096

    private enum Body {
        /// Between requests, and after the last byte of one.
        case none
        /// Bytes that have not arrived. Stays until the end of the request, even at 0.
        case counted(left: Int)
        /// Only the parser recognises the last chunk.
        case chunked
    }

    /// The part of the current request that the parser has still to receive.
    private var body = Body.none
    /// Requests whose response is incomplete.
    private(set) var unanswered = 0
    /// Whether no request may follow (RFC 9112, 9.6).
    private(set) var isLast = false
    /// False while too much of the responses is unsent.
    var isWritable = true

    /// Whether a request body is incomplete.
    var isReceiving: Bool {
        if case .none = body { false } else { true }
    }

    /// Whether the end of the current body is unknown.
    var isChunked: Bool {
        if case .chunked = body { true } else { false }
    }

    /// True when further bytes are ignored.
    var isOver: Bool { isLast && !isReceiving }

    /// No request is incomplete or unanswered.
    var isIdle: Bool { unanswered == 0 && !isReceiving }

    /// How many bytes the parser may get now, from the start of these.
    func admittedBytes(of bytes: ByteBuffer) -> Int {
        switch body {
        case .none:
            guard unanswered == 0, isWritable, !isLast else { return 0 }
            return bytes.withUnsafeReadableBytes(Self.bytesOfOneRequest)
        case .counted(let left): return min(bytes.readableBytes, max(left, 1))
        case .chunked: return min(bytes.readableBytes, Self.chunkedStep)
        }
    }

    /// The number of bytes that contain at most one complete head. An empty line ends a head. With several empty lines,
    /// the bytes end after the first one; otherwise, all bytes count. Lines end in LF or CR LF. Never splits a complete
    /// head. Linear in the bytes up to the second empty line.
    private static func bytesOfOneRequest(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard let start = bytes.baseAddress else { return 0 }
        let end = start + bytes.count
        var line = start
        var firstHead: Int?
        while let feed = memchr(line, Int32(UInt8(ascii: "\n")), end - line) {
            let next = UnsafeRawPointer(feed) + 1
            let isEmpty = next - line == 1 || (next - line == 2 && line.load(as: UInt8.self) == UInt8(ascii: "\r"))
            line = next
            guard isEmpty else { continue }
            if let firstHead { return firstHead }
            firstHead = next - start
        }
        return bytes.count
    }

    /// A head has arrived. `length`: the length of its body; nil when it is chunked. No further request follows one
    /// with `isLast`.
    mutating func begin(length: Int?, isLast: Bool) {
        unanswered += 1
        body = length.map { .counted(left: $0) } ?? .chunked
        if isLast { self.isLast = true }
    }

    /// Bytes of a chunked body do not count.
    mutating func receive(_ bytes: Int) {
        if case .counted(let left) = body { body = .counted(left: max(0, left - bytes)) }
    }

    /// A request is complete.
    mutating func endRequest() { body = .none }

    /// Opens the window for the next request.
    mutating func endResponse() {
        // A response to bytes that are not a request has no request.
        unanswered = max(0, unanswered - 1)
    }

    /// The input cannot be used any further.
    mutating func close() {
        isLast = true
        body = .none
    }
}
