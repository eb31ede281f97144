import SignalboxEgress
import Testing

@Suite struct MessageAuthenticationTests {
    /// RFC 4231, test cases 1, 2 and 6.
    @Test(arguments: [
        (
            [UInt8](repeating: 0x0B, count: 20), "Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), "what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            [UInt8](repeating: 0xAA, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
    ])
    func followsRFC4231(key: [UInt8], message: String, code: String) {
        let authentication = MessageAuthentication(key: key)
        #expect(hex(authentication.authenticate(Array(message.utf8))) == code)
        // A reused context starts again.
        _ = authentication.authenticate([1, 2, 3])
        #expect(hex(authentication.authenticate(Array(message.utf8))) == code)
    }

    @Test func joinsPartsIntoOneMessage() {
        let authentication = MessageAuthentication(key: [1, 2, 3])
        #expect(authentication.authenticate([1, 2], [], [3]) == authentication.authenticate([1, 2, 3]))
    }

    @Test func isSafeFromManyTasks() async {
        let authentication = MessageAuthentication(key: [7])
        let expected = authentication.authenticate([1])
        await withTaskGroup { group in
            for _ in 0..<64 { group.addTask { #expect(authentication.authenticate([1]) == expected) } }
        }
    }

    @Test func comparesWholeSecrets() {
        #expect(equalInConstantTime([1, 2], [1, 2]))
        #expect(!equalInConstantTime([1, 2], [1]))
        #expect(!equalInConstantTime([], [1]))
        #expect(!equalInConstantTime([1, 2], [1, 3]))
    }

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
