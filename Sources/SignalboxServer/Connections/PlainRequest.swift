import NIOCore
import NIOHTTP1

/// The head of a POST for whose response only these values and the body matter.
struct PlainHead {
    /// In origin form.
    let target: String
    /// Bytes of the body, which is not chunked.
    let bodyLength: Int
    let credentials: Credentials
    /// The header `traceparent`; empty if it is repeated.
    let traceparent: String?
    /// The header `tracestate`; several are joined with commas.
    let tracestate: String?

    /// Nil when another field matters. `fields`: of a request that ``HeadFields/check(version:)`` does not reject.
    init?(_ target: String, _ fields: HeadFields) {
        guard !fields.hasOthers, !fields.hasUpgrade, !fields.expectsContinue, fields.codings == 0 else { return nil }
        self.target = target
        bodyLength = fields.length
        credentials = Credentials(
            authority: fields.host, origin: fields.origin, authorization: fields.authorization,
            isForwarded: fields.isForwarded, site: fields.site)
        traceparent = fields.traceparent
        tracestate = fields.tracestate
    }
}

/// A request that arrived in one piece and is written in the most common way, read without the HTTP parser.
///
/// Reading accepts a small part of the grammar of RFC 9112 only. Everything else is the parser's to read or to reject.
/// A request that is accepted here has the same head and body as the parser gives it; tests compare both.
struct PlainRequest {
    let head: PlainHead
    /// A slice of the received bytes, without a copy. It keeps all of them in memory.
    let body: ByteBuffer

    /// Nil unless `bytes` are one whole request, from its first byte to its last.
    init?(_ bytes: ByteBuffer) {
        let read = bytes.withUnsafeReadableBytes { bytes in
            var reader = PlainHeadReader(bytes.assumingMemoryBound(to: UInt8.self))
            return reader.read().map { (head: $0, end: reader.position) }
        }
        // A difference, because the sum with a length near the greatest number would overflow.
        guard let read, read.head.bodyLength == bytes.readableBytes - read.end,
            let body = bytes.getSlice(at: bytes.readerIndex + read.end, length: read.head.bodyLength)
        else { return nil }
        (head, self.body) = (read.head, body)
    }
}

/// Reads a head from its first byte on. Each byte is read once, and the values of fields that matter twice.
private struct PlainHeadReader {
    /// A view of the request's buffer, valid during one read. Texts that are kept are copies.
    private let bytes: UnsafeBufferPointer<UInt8>
    /// The first byte that was not read.
    private(set) var position = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    /// Nil for a head that the parser must read.
    mutating func read() -> PlainHead? {
        guard take("POST ") else { return nil }
        let target = takeWhile(Self.isOfPath)
        guard target.first == UInt8(ascii: "/"), take(" HTTP/1.1\r\n") else { return nil }
        var fields = HeadFields()
        while !take("\r\n") {
            guard readField(into: &fields) else { return nil }
        }
        // A POST without a length is rare, and so is one with two.
        guard fields.lengths == 1, (try? fields.check(version: .http1_1)) != nil else { return nil }
        return PlainHead(String(decoding: target, as: UTF8.self), fields)
    }

    /// Reads `name: value` and the end of its line; false for another form. Leaves empty values, and those with further
    /// spaces around them, to the parser.
    private mutating func readField(into fields: inout HeadFields) -> Bool {
        let name = takeWhile(Self.isOfWord)
        guard !name.isEmpty, take(":") else { return false }
        _ = take(" ")
        let value = takeWhile(Self.isOfValue)
        guard take("\r\n"), let first = value.first, let last = value.last, first != UInt8(ascii: " "),
            last != UInt8(ascii: " ")
        else { return false }
        let lengths = fields.lengths
        fields.add(UnsafeBufferPointer(rebasing: name), String(decoding: value, as: UTF8.self))
        // Swift reads a sign too, the parser does not.
        return fields.lengths == lengths || value.allSatisfy(Self.isDigit)
    }

    /// Returns true and moves past the text if it comes next.
    @inline(__always)
    private mutating func take(_ text: StaticString) -> Bool {
        let length = text.utf8CodeUnitCount
        guard bytes.count - position >= length else { return false }
        for offset in 0..<length where bytes[position + offset] != text.utf8Start[offset] { return false }
        position += length
        return true
    }

    /// The next bytes that `accepts` matches, without a copy; empty for none. Moves past them.
    @inline(__always)
    private mutating func takeWhile(_ accepts: (UInt8) -> Bool) -> Slice<UnsafeBufferPointer<UInt8>> {
        let start = position
        while position < bytes.count, accepts(bytes[position]) { position += 1 }
        return bytes[start..<position]
    }

    // MARK: Bytes

    /// A comparison that also rejects bytes below `0`: the subtraction wraps.
    private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

    /// Letters, digits, hyphen and underscore: the part of a token (RFC 9110, 5.6.2) that usual field names have.
    private static func isOfWord(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- UInt8(ascii: "a") < 26 || isDigit(byte) || byte == UInt8(ascii: "-")
            || byte == UInt8(ascii: "_")
    }

    /// Without escapes and queries.
    private static func isOfPath(_ byte: UInt8) -> Bool {
        isOfWord(byte) || byte == UInt8(ascii: "/") || byte == UInt8(ascii: ".")
    }

    /// Printable ASCII and spaces.
    private static func isOfValue(_ byte: UInt8) -> Bool { byte &- 0x20 < 0x5F }
}
