/// For who looks for many keys at once and remembers where they stood.
extension JSONValue {
    /// Where this stands in its document: above nought, and below 2³¹ for texts of up to a gigabyte.
    @inlinable package var place: Int { index }

    /// What stands at a place of this value's document.
    @inlinable
    package func value(at place: Int) -> JSONValue { at(place) }

    /// Hands `body` the members of an object in the order of the text, repeated keys included, with the heads of their
    /// keys.
    @inlinable
    package func forEachHead(
        _ body: (_ head: JSONKeyHead, _ key: UnsafeBufferPointer<UInt8>, _ value: JSONValue) -> Void
    ) {
        guard isObject else { return }
        let end = next - 1
        var cursor = index + 1
        while cursor < end {
            let key = at(cursor)
            let value = at(cursor + 1)
            body(JSONKeyHead(at: strings + key.payload), key.stringBytes, value)
            cursor = value.next
        }
    }
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

    /// A number that is the same for the same head; its upper bits tell heads apart.
    @inlinable @inline(__always)
    package var code: UInt64 { hash }

    /// Up to this length a key is no more than its head.
    @inlinable package static var reach: Int { 8 }
}
