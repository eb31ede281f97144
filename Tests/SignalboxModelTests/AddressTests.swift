import SignalboxTesting
import Testing

@testable import SignalboxNotification

@Suite struct AddressTests {
    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "0.0.0.0"), ("255.255.255.255", "255.255.255.255"), ("::", "::"),
        ("::1", "::1"), ("fe80::1", "fe80::1"), ("FE80:0:0:0:0:0:0:1", "fe80::1"), ("2001:db8::", "2001:db8::"),
        ("2001:0db8:0000:0000:0001:0000:0000:0001", "2001:db8::1:0:0:1"), ("::ffff:10.0.0.1", "::ffff:10.0.0.1"),
        ("64:ff9b::192.0.2.1", "64:ff9b::c000:201"),
    ])
    func readsEveryTextFormAndWritesOne(_ text: String, _ spelled: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.description == spelled)
        #expect(IPAddress(address.description) == address)
        #expect(address.bytes.count == (address.isIPv6 ? 16 : 4))
        #expect(address.isIPv6 == text.contains(":"))
    }

    @Test(arguments: [
        "", " ", "127.0.0.1 ", " 127.0.0.1", "127.0.0", "127.0.0.1.1", "256.0.0.1", "127.0.0.01", "0x7f.0.0.1",
        "2130706433", "127.1", "localhost", "::1%eth0", "fe80::1%1", "[::1]", ":::", "1::2::3", "1:2:3:4:5:6:7",
        "1:2:3:4:5:6:7:8:9", "12345::", "::g", "127.0.0.1\n", "127.0.0.1\0", "::1\0x", "１.2.3.4",
    ])
    func rejectsOtherTexts(_ text: String) {
        #expect(IPAddress(text) == nil, "\(text.debugDescription)")
    }

    @Test func anAddressOfBytesReadsBack() {
        var random = SeededGenerator(seed: 20_261_120)
        for _ in 0..<500 {
            let count = Bool.random(using: &random) ? 4 : 16
            let bytes = (0..<count).map { _ in
                Bool.random(using: &random) ? 0 : UInt8.random(in: 0...255, using: &random)
            }
            #expect(IPAddress(IPAddress(bytes: bytes).description)?.bytes == bytes)
        }
    }

    // MARK: Ranges

    @Test(arguments: [
        ("10.0.0.0/8", "10.0.0.0/8"), ("0.0.0.0/0", "0.0.0.0/0"), ("192.0.2.1", "192.0.2.1/32"),
        ("192.0.2.1/32", "192.0.2.1/32"), ("192.0.2.128/25", "192.0.2.128/25"), ("::/0", "::/0"), ("::1", "::1/128"),
        ("fd00::/8", "fd00::/8"), ("FE80::/10", "fe80::/10"), ("2001:db8::/33", "2001:db8::/33"),
    ])
    func readsRanges(_ text: String, _ spelled: String) {
        #expect(AddressRange(text)?.description == spelled)
    }

    @Test(arguments: [
        "", "/", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8", "10.0.0.0/ 8",
        "10.0.0.0/8 ", "10.0.0.0/x", "10.0.0.0/٨", "::/129", "10.0.0.0/255.0.0.0", "10.0.0.0/99999999999999999999",
        // Bits after the prefix.
        "10.0.0.1/8", "192.0.2.129/25", "0.0.0.1/0", "fd00::1/8", "::1/0", "128.0.0.0/0",
    ])
    func rejectsOtherTextsAsRanges(_ text: String) {
        #expect(AddressRange(text) == nil, "\(text.debugDescription)")
    }

    @Test(arguments: [
        ("10.0.0.0/8", "10.255.255.255", true), ("10.0.0.0/8", "11.0.0.0", false),
        ("10.0.0.0/8", "9.255.255.255", false), ("192.0.2.128/25", "192.0.2.127", false),
        ("192.0.2.128/25", "192.0.2.128", true), ("100.64.0.0/10", "100.127.255.255", true),
        ("100.64.0.0/10", "100.128.0.0", false), ("0.0.0.0/0", "255.1.2.3", true), ("192.0.2.1", "192.0.2.1", true),
        ("192.0.2.1", "192.0.2.2", false), ("fe80::/10", "febf:ffff::1", true), ("fe80::/10", "fec0::", false),
        ("::/0", "::1", true), ("::1", "::1", true), ("::1", "::2", false),
        // Of the other family, mapped or not.
        ("0.0.0.0/0", "::1", false), ("::/0", "127.0.0.1", false), ("10.0.0.0/8", "::ffff:10.0.0.1", false),
        ("::ffff:0:0/96", "::ffff:10.0.0.1", true),
    ])
    func containsWhatSharesItsPrefix(_ range: String, _ address: String, _ expected: Bool) throws {
        #expect(try #require(AddressRange(range)).contains(try #require(IPAddress(address))) == expected)
    }

    @Test func everyPrefixLengthSeparatesAtItsOwnBit() throws {
        for (count, length) in (0...32).map({ (4, $0) }) + (0...128).map({ (16, $0) }) {
            let zero = IPAddress(bytes: [UInt8](repeating: 0, count: count))
            let range = try #require(AddressRange("\(zero)/\(length)"))
            for bit in 0..<count * 8 {
                var bytes = [UInt8](repeating: 0, count: count)
                bytes[bit / 8] = 0x80 >> (bit % 8)
                #expect(range.contains(IPAddress(bytes: bytes)) == (bit >= length))
            }
        }
    }
}
