/// For who looks for many keys at once and remembers where they stood.
extension JSONValue {
    /// Where this stands in its document: above nought, and below 2³¹ for texts of up to a gigabyte.
    @inlinable package var tapeIndex: Int { index }

    /// What stands at a place of this value's document.
    @inlinable
    package func value(atTapeIndex index: Int) -> JSONValue { at(index) }
}

extension JSONKeyHead {
    /// The head of a key that is known only at run time.
    package init(_ key: [UInt8]) {
        let text = withUnsafeBytes(of: UInt32(key.count).littleEndian) { Array($0) } + key
        // As in the parser's buffer, eight bytes can be read.
        self = (text + [0, 0, 0, 0]).withUnsafeBufferPointer { text in
            guard let start = text.baseAddress else { preconditionFailure("There are eight bytes.") }
            return JSONKeyHead(at: start)
        }
    }

    /// The head of a key that a parsed object has.
    @inlinable @inline(__always)
    package init(parsed key: UnsafeBufferPointer<UInt8>) {
        guard let start = key.baseAddress else { preconditionFailure("Every key has an address.") }
        self.init(at: start - 4)
    }

    /// A number that is the same for the same head; its upper bits tell heads apart.
    @inlinable @inline(__always)
    package var code: UInt64 { hash }

    /// Up to this length a key is no more than its head.
    @inlinable package static var reach: Int { 8 }
}
