/// Fields of a response in the form of HTTP/2, each a literal that no table has to keep (RFC 7541, 6.2.2): values such
/// as identifiers never repeat, so they would only fill the table of the client. Without Huffman's code, which takes
/// longer than the rest of a response.
struct FieldBlock {
    /// Belongs at the end of the payload of a HEADERS frame, after the fields that the library wrote.
    private(set) var bytes: [UInt8] = []

    /// Bytes. Every client accepts frames of 16,384 bytes (RFC 9113, 4.2); the rest is for `:status`.
    private static let longest = 16_000

    /// Leaves out fields that are too long for one frame. Answers have none: a request is shorter.
    init(_ headers: [ProviderReply.Header]) {
        bytes.reserveCapacity(headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 8 })
        for header in headers
        where bytes.count + header.name.utf8.count + header.value.utf8.count + 8 <= Self.longest {
            bytes.append(0)
            append(header.name)
            append(header.value)
        }
    }

    /// A string literal (RFC 7541, 5.2): its length with a prefix of seven bits, and its bytes.
    private mutating func append(_ text: String) {
        var rest = text.utf8.count
        if rest < 0x7F {
            bytes.append(UInt8(rest))
        } else {
            bytes.append(0x7F)
            rest -= 0x7F
            while rest >= 0x80 {
                bytes.append(UInt8(rest & 0x7F) | 0x80)
                rest >>= 7
            }
            bytes.append(UInt8(rest))
        }
        bytes.append(contentsOf: text.utf8)
    }
}
