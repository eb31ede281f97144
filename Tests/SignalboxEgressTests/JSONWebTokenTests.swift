import Testing

@testable import SignalboxEgress

@Suite struct JSONWebTokenTests {
    /// RFC 7515, A.3.
    private static let text =
        "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
        + ".DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"

    /// The key of RFC 7515, A.3.
    private static let key = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV7
        6e8Tus9uPHvRVEXH8UTNG72bfocs3+257rn0s2ldbqkLJK2KRiMohYjlrQ==
        -----END PUBLIC KEY-----

        """

    @Test func splitsAndDecodes() throws {
        let token = try #require(JSONWebToken(Self.text.utf8))
        #expect(String(decoding: token.header, as: UTF8.self) == #"{"alg":"ES256"}"#)
        #expect(String(decoding: token.claims, as: UTF8.self).hasPrefix(#"{"iss":"joe","#))
        #expect(token.signature.count == 64)
        #expect(Self.text.hasPrefix(String(decoding: token.signedBytes, as: UTF8.self) + "."))
    }

    @Test func decodesEveryLength() {
        for (text, bytes) in [
            ("", []), ("AA", [0]), ("AAA", [0, 0]), ("AAAA", [0, 0, 0]), ("_-8", [255, 239]),
        ] as [(String, [UInt8])] {
            #expect(JSONWebToken("\(text)..".utf8)?.header == bytes, "\(text)")
        }
    }

    @Test(arguments: [
        "", ".", "a.b.c", "AA.AA", "AA.AA.AA.AA", "AA==.AA.AA", "A+.AA.AA", "AA.A/.AA", "AA.AA. A", "é.AA.AA",
    ])
    func rejectsOtherTexts(_ text: String) { #expect(JSONWebToken(text.utf8) == nil) }

    @Test func decodesBothAlphabetsAndPaddingIfAllowed() {
        for (text, bytes) in [
            ("AA==", [0]), ("AAA=", [0, 0]), ("AA", [0]), ("AAAA", [0, 0, 0]), ("+/+/", [251, 255, 191]),
            ("-_-_", [251, 255, 191]), ("+_8=", [251, 255]),
        ] as [(String, [UInt8])] {
            let token = JSONWebToken("\(text).\(text).\(text)".utf8, in: .anyBase64)
            #expect(token?.header == bytes && token?.claims == bytes && token?.signature == bytes, "\(text)")
            #expect(token?.signedBytes == Array("\(text).\(text)".utf8))
        }
    }

    @Test(arguments: ["A===", "====", "AA=", "AAA==", "=AAA", "A=AA", "AAAAA", "AAAA=", "AA==AA", "A A="])
    func rejectsOtherPadding(_ text: String) {
        #expect(JSONWebToken("\(text).AA.AA".utf8, in: .anyBase64) == nil)
    }

    @Test func rejectsALongText() {
        #expect(JSONWebToken((String(repeating: "A", count: 8 * 1024) + "..").utf8) == nil)
    }

    @Test func verifiesTheExampleOfTheSpecification() throws {
        let token = try #require(JSONWebToken(Self.text.utf8))
        let key = try #require(ES256PublicKey(pem: Array(Self.key.utf8)))
        #expect(key.isValid(token.signature, for: token.signedBytes))
        #expect(!key.isValid(token.signature, for: token.signedBytes + [0]))
        for position in [0, 31, 32, 63] {
            var changed = token.signature
            changed[position] ^= 1
            #expect(!key.isValid(changed, for: token.signedBytes))
        }
        let constants = [0, 255].map { [UInt8](repeating: $0, count: 64) }
        for other in constants + [[], token.signature.dropLast(), token.signature + [0]] {
            #expect(!key.isValid(other, for: token.signedBytes))
        }
    }

    @Test func verifiesDER() throws {
        let token = try #require(JSONWebToken(Self.text.utf8))
        let key = try #require(ES256PublicKey(pem: Array(Self.key.utf8)))
        let (first, second) = (Array(token.signature.prefix(32)), Array(token.signature.suffix(32)))
        // Only the second number begins with a set bit.
        let der: [UInt8] = [0x30, 69, 2, 32] + first + [2, 33, 0] + second
        #expect(key.isValid(der, for: token.signedBytes))
        #expect(!key.isValid(der, for: token.signedBytes + [0]))
        let negative: [UInt8] = [0x30, 68, 2, 32] + first + [2, 32] + second
        let long: [UInt8] = [0x30, 0x81, 69] + Array(der.dropFirst(2))
        let zero: [UInt8] = [0x30, 6, 2, 1, 0, 2, 1, 0]
        for other in [negative, long, zero, der + [0], Array(der.dropLast()), [0x30, 0]] {
            #expect(!key.isValid(other, for: token.signedBytes))
        }
    }

    @Test func readsOnlyPublicKeysOnTheCurve() {
        let p384 = """
            -----BEGIN PUBLIC KEY-----
            MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEiAKFuANtGaw45H8mhIujiAvWTGrJnP/U
            lnrWwr1RinSpn5Ca9Pc7UCY3QX7AsXBmmQ6kCYmvtpZ1knnctLu8ZVoYSfNVUD+y
            PBae8/kFpJOUcMPrVGozdZ8aPhlWBChg
            -----END PUBLIC KEY-----

            """
        // OpenSSL would ask for its passphrase on the terminal.
        let encrypted = """
            -----BEGIN ENCRYPTED PRIVATE KEY-----
            MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAh/fTWOb1Jc+QICCAAw
            DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEECr0W6OD6zOagvkubpH/2kEEgZCP
            9DY3ZsT5WXzl2Jvcf6MYSpwhg56Cjo9AowlC6ulKRZ5YNeJVtAL/vvLKNa46J4Nn
            I2DCwCel458aDAZji11PhfQ0UIWOBEwLdxGe+01YSVCpyqYrPuIDUVhVQ4QNKcBQ
            RMFtJVfgsgNyC8YsOPnJoTqyJw0tk4Rtfspxv6kgeNZAJgu4t9dLnbMXZPjw6u8=
            -----END ENCRYPTED PRIVATE KEY-----

            """
        for pem in [
            "", "x", p384, encrypted, Self.key.replacing("PUBLIC", with: "PRIVATE"), String(Self.key.dropLast(60)),
        ] {
            #expect(ES256PublicKey(pem: Array(pem.utf8)) == nil)
        }
    }
}
