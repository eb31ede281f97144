/// The identifier of a trace: 16 bytes, not all zero (W3C Trace Context, 3.2.2.3).
package struct TraceID: Sendable, Hashable, CustomStringConvertible {
    private let high: UInt64
    private let low: UInt64

    /// Nil if both halves are zero.
    init?(high: UInt64, low: UInt64) {
        guard high | low != 0 else { return nil }
        (self.high, self.low) = (high, low)
    }

    /// Reads 32 hexadecimal digits in lower case; nil for any other text, and for zeros only.
    init?(digits: some Collection<UInt8>) {
        guard digits.count == 32, let high = UInt64(lowerCaseDigits: digits.prefix(16)),
            let low = UInt64(lowerCaseDigits: digits.dropFirst(16))
        else { return nil }
        self.init(high: high, low: low)
    }

    /// A random identifier of a new trace.
    static func random() -> TraceID {
        // One half above zero suffices.
        TraceID(high: .random(in: 0 ... .max), low: .random(in: 1 ... .max), isNotZero: ())
    }

    private init(high: UInt64, low: UInt64, isNotZero: Void) { (self.high, self.low) = (high, low) }

    /// 32 hexadecimal digits in lower case.
    package var description: String {
        String(unsafeUninitializedCapacity: Self.digits) { text in
            spell(into: UnsafeMutableBufferPointer(rebasing: text[..<Self.digits]))
            return Self.digits
        }
    }

    /// Length of the text form.
    static let digits = 32

    /// Writes the text form into a buffer of ``digits`` bytes.
    func spell(into text: UnsafeMutableBufferPointer<UInt8>) {
        high.spell(into: UnsafeMutableBufferPointer(rebasing: text[..<SpanID.digits]))
        low.spell(into: UnsafeMutableBufferPointer(rebasing: text[SpanID.digits...]))
    }
}

/// The identifier of a span within a trace: 8 bytes, not all zero (W3C Trace Context, 3.2.2.4).
package struct SpanID: Sendable, Hashable, CustomStringConvertible {
    private let number: UInt64

    /// Nil for zero.
    package init?(_ number: UInt64) {
        guard number != 0 else { return nil }
        self.number = number
    }

    /// Reads 16 hexadecimal digits in lower case; nil for any other text, and for zeros only.
    init?(digits: some Collection<UInt8>) {
        guard digits.count == 16, let number = UInt64(lowerCaseDigits: digits) else { return nil }
        self.init(number)
    }

    /// A random identifier of a new span.
    static func random() -> SpanID { SpanID(.random(in: 1 ... .max), isNotZero: ()) }

    private init(_ number: UInt64, isNotZero: Void) { self.number = number }

    /// 16 hexadecimal digits in lower case.
    package var description: String {
        String(unsafeUninitializedCapacity: Self.digits) { text in
            spell(into: UnsafeMutableBufferPointer(rebasing: text[..<Self.digits]))
            return Self.digits
        }
    }

    /// Length of the text form.
    static let digits = 16

    /// Writes the text form into a buffer of ``digits`` bytes.
    func spell(into text: UnsafeMutableBufferPointer<UInt8>) { number.spell(into: text) }
}

extension UInt64 {
    /// Reads up to 16 hexadecimal digits; nil for any other byte, capital letters included.
    init?(lowerCaseDigits digits: some Collection<UInt8>) {
        var number: UInt64 = 0
        for digit in digits {
            guard let value = Self.value(ofLowerCaseDigit: digit) else { return nil }
            number = number << 4 | value
        }
        self = number
    }

    /// Nil for a byte that is not a hexadecimal digit in lower case.
    private static func value(ofLowerCaseDigit digit: UInt8) -> UInt64? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(digit - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(digit - UInt8(ascii: "a")) + 10
        default: nil
        }
    }

    /// Writes hexadecimal digits in lower case, with leading zeros, into all of a buffer.
    fileprivate func spell(into text: UnsafeMutableBufferPointer<UInt8>) {
        var rest = self
        for position in text.indices.reversed() {
            let digit = UInt8(rest & 0xF)
            text[position] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit
            rest >>= 4
        }
    }
}
