import SignalboxEgress
import SignalboxNotification
import Testing

@Suite struct AddressPolicyTests {
    /// At least one address of every special-purpose range.
    static let special = [
        "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1",
        "172.31.255.255", "192.0.0.1", "192.0.0.192", "192.0.2.1", "192.31.196.1", "192.52.193.1", "192.88.99.1",
        "192.168.1.1", "192.175.48.1", "198.18.0.1",
        "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
        "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:8.8.8.8", "::ffff:0:127.0.0.1",
        "::5efe:127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::a00:1", "100::1", "100:0:0:1::1",
        "2001::1", "2001:2::1", "2001:10::1", "2001:20::1", "2001:db8::1", "2002:7f00:1::1", "2620:4f:8000::1",
        "3fff::1", "5f00::1",
        "fc00::1", "fd12:3456::1", "fe80::1", "fec0::1", "ff02::1", "4000::1",
    ]

    @Test(arguments: special) func deniesSpecialPurposeAddresses(text: String) throws {
        let address = try #require(IPAddress(text))
        guard AddressPolicy().denial(of: address) != nil else {
            Issue.record("\(text) was allowed")
            return
        }
    }

    @Test(arguments: [
        "1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.1", "172.15.255.255", "172.32.0.1", "192.0.1.1",
        "198.17.255.255", "198.20.0.1", "223.255.255.255", "2606:4700::1111", "2a00:1450:4001::200e", "2001:4860::8888",
    ])
    func allowsGlobalUnicast(text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(AddressPolicy().denial(of: address) == nil)
    }

    @Test func allowsOnlyTheNamedRanges() throws {
        let policy = AddressPolicy(allow: [
            try #require(AddressRange("10.1.0.0/16")), try #require(AddressRange("::1")),
        ])
        #expect(policy.denial(of: try #require(IPAddress("10.1.2.3"))) == nil)
        #expect(policy.denial(of: try #require(IPAddress("::1"))) == nil)
        #expect(policy.denial(of: try #require(IPAddress("10.2.0.1"))) == "private")
        #expect(policy.denial(of: try #require(IPAddress("127.0.0.1"))) == "loopback")
    }

    @Test func treatsMappedAddressesAsIPv4() throws {
        let policy = AddressPolicy(allow: [try #require(AddressRange("127.0.0.0/8"))])
        #expect(policy.denial(of: try #require(IPAddress("::ffff:127.0.0.1"))) == nil)
        #expect(policy.denial(of: try #require(IPAddress("::ffff:10.0.0.1"))) == "IPv4-mapped")
    }
}
