/// A position in a trace: the trace and one of its spans, as the header `traceparent` names them.
/// Source: W3C Trace Context, levels 1 and 2, 3.2
package struct TraceContext: Sendable, Hashable {
    /// The trace.
    package let traceID: TraceID
    /// The span; the parent of the spans that its receiver makes.
    package let spanID: SpanID
    /// ``sampled`` and ``random``; other bits are not defined.
    package let flags: UInt8

    /// Set if the sender records the trace.
    static let sampled: UInt8 = 1
    /// Set if the last seven bytes of the trace's identifier are random (level 2).
    static let random: UInt8 = 2
    /// Length of a header of version 00.
    package static let length = 55

    /// Clears flags that are not defined.
    init(_ traceID: TraceID, _ spanID: SpanID, flags: UInt8) {
        (self.traceID, self.spanID) = (traceID, spanID)
        self.flags = flags & (Self.sampled | Self.random)
    }

    /// Reads the value of a header; nil for an invalid one. A later version than 00 is read as version 00, and may
    /// have further fields. Reads 56 bytes at most.
    package init?(_ header: String) {
        var header = header
        guard let context = header.withUTF8({ Self($0) }) else { return nil }
        self = context
    }

    /// The same, from UTF-8.
    init?(_ bytes: UnsafeBufferPointer<UInt8>) {
        let dash = UInt8(ascii: "-")
        guard bytes.count >= Self.length, bytes[2] == dash, bytes[35] == dash, bytes[52] == dash,
            let version = UInt64(lowerCaseDigits: bytes[0..<2]), version != 0xFF,
            bytes.count == Self.length || (version > 0 && bytes[Self.length] == dash),
            let traceID = TraceID(digits: bytes[3..<35]), let spanID = SpanID(digits: bytes[36..<52]),
            let flags = UInt64(lowerCaseDigits: bytes[53..<55])
        else { return nil }
        self.init(traceID, spanID, flags: UInt8(flags))
    }

    /// True if the spans of the trace are recorded.
    package var isSampled: Bool { flags & Self.sampled != 0 }

    /// The value of a header, in version 00.
    package var header: String {
        String(unsafeUninitializedCapacity: Self.length) { text in
            let (dash, zero) = (UInt8(ascii: "-"), UInt8(ascii: "0"))
            (text[0], text[1], text[2]) = (zero, zero, dash)
            traceID.spell(into: UnsafeMutableBufferPointer(rebasing: text[3..<35]))
            text[35] = dash
            spanID.spell(into: UnsafeMutableBufferPointer(rebasing: text[36..<52]))
            (text[52], text[53], text[54]) = (dash, zero, zero + flags)
            return Self.length
        }
    }

    /// A new span of the same trace.
    func child() -> TraceContext { TraceContext(traceID, .random(), flags: flags) }

    /// A new trace with a first span, sampled.
    static func root() -> TraceContext { TraceContext(.random(), .random(), flags: sampled) }
}
