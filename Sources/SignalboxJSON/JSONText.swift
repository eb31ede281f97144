/// A JSON value as the bytes of its compact text: what is kept of a payload beyond the parser's life without being
/// taken apart.
package struct JSONText: Sendable, Equatable {
    package let bytes: [UInt8]

    /// The compact text of a value: insignificant blanks go, members keep their order, of repeated keys the last stays.
    package init(_ value: JSONValue) {
        var writer = JSONWriter()
        writer.value(value)
        bytes = writer.bytes
    }

    /// Takes over what a writer has written, which must be one whole value.
    package init(_ writer: consuming JSONWriter) { bytes = writer.bytes }

    package var string: String { String(decoding: bytes, as: UTF8.self) }
}
