import Foundation
import NIOCore

/// Decides how many bytes of a connection the HTTP parser may see now.
///
/// Pipelined requests wait as bytes, because parsed requests take about thirty times the memory. The parser therefore
/// gets small pieces, and none while a response is pending.
struct RequestWindow {
    /// Bytes that hold at least one whole head of usual length.
    static let step = 1024
    /// Bytes of a chunked body, whose end cannot be known in advance.
    static let chunkedStep = 4096

    private enum Body {
        case none
        case counted(left: Int)
        case chunked
    }

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

    /// True when further bytes are ignored.
    var isOver: Bool { isLast && !isReceiving }

    var isIdle: Bool { unanswered == 0 && !isReceiving }

    /// Most bytes that the parser may get now.
    var allowance: Int {
        switch body {
        case .none: unanswered == 0 && isWritable ? Self.step : 0
        case .counted(let left): max(left, Self.step)
        case .chunked: Self.chunkedStep
        }
    }

    /// Whether the parser may get all of these bytes at once.
    ///
    /// More than a step passes when it holds one request: most requests arrive in one piece, and cost less uncut.
    func admits(_ bytes: ByteBuffer) -> Bool {
        guard !isOver else { return false }
        let allowance = allowance
        if bytes.readableBytes <= allowance { return true }
        guard case .none = body, allowance > 0 else { return false }
        return bytes.withUnsafeReadableBytes(Self.endsOneHead)
    }

    /// Whether there is at most one empty line, which ends a head. Lines end in LF or CR LF.
    private static func endsOneHead(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard var line = bytes.baseAddress else { return true }
        let end = line + bytes.count
        var heads = 0
        while let feed = memchr(line, Int32(UInt8(ascii: "\n")), end - line) {
            let length = UnsafeRawPointer(feed) - line
            if length == 0 || (length == 1 && line.load(as: UInt8.self) == UInt8(ascii: "\r")) { heads += 1 }
            if heads > 1 { return false }
            line = UnsafeRawPointer(feed) + 1
        }
        return true
    }

    /// A head has arrived. `length`: of its body; nil when it is chunked.
    mutating func begin(length: Int?, isLast: Bool) {
        unanswered += 1
        body = length.map { .counted(left: $0) } ?? .chunked
        if isLast { self.isLast = true }
    }

    mutating func receive(_ bytes: Int) {
        if case .counted(let left) = body { body = .counted(left: max(0, left - bytes)) }
    }

    /// A request is complete.
    mutating func endRequest() { body = .none }

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
