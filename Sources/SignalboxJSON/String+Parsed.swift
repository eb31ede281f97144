extension String {
    /// A copy of bytes that the parser has found to be UTF-8, which is not found out again.
    init(parsed bytes: UnsafeBufferPointer<UInt8>) {
        self = String(copying: unsafe UTF8Span(unchecked: Span(_unsafeElements: bytes)))
    }
}
