import Testing

@testable import SignalboxServer

/// Fields of responses as HTTP/2 sends them.
@Suite struct FieldBlockTests {
    private static func bytes(_ fields: (String, String)...) -> [UInt8] {
        FieldBlock(fields.map { ProviderReply.Header(name: $0.0, value: $0.1) }).bytes
    }

    /// A literal without indexing and with a new name (RFC 7541, 6.2.2): zero, then both strings after their lengths.
    @Test func writesLiteralsInOrder() {
        let expected = [0, 7] + Array("apns-id".utf8) + [2] + Array("A1".utf8) + [0, 1] + Array("b".utf8) + [0]
        #expect(Self.bytes(("apns-id", "A1"), ("b", "")) == expected)
        #expect(Self.bytes() == [])
    }

    /// A length with a prefix of seven bits (RFC 7541, 5.1).
    @Test(arguments: [(126, [126]), (127, [127, 0]), (128, [127, 1]), (300, [127, 0xAD, 1])] as [(Int, [UInt8])])
    func writesLongLengths(length: Int, prefix: [UInt8]) {
        let value = String(repeating: "v", count: length)
        #expect(Self.bytes(("n", value)) == [0, 1] + Array("n".utf8) + prefix + Array(value.utf8))
    }

    @Test func leavesOutFieldsThatNoFrameHolds() {
        let long = String(repeating: "v", count: 20_000)
        #expect(Self.bytes(("a", "1"), ("b", long), ("c", "2")) == Self.bytes(("a", "1"), ("c", "2")))
    }
}
