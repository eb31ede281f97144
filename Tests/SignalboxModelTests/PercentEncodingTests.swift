import Foundation
import SignalboxNotification
import Testing

@Suite struct PercentEncodingTests {
    @Test func keepsUnreservedCharacters() {
        let unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
        #expect(unreserved.percentEncoded == unreserved)
    }

    @Test(arguments: [
        ("", ""), (" ", "%20"), ("%", "%25"), ("+", "%2B"), ("a,b", "a%2Cb"), ("\0\n", "%00%0A"),
        ("@[`{", "%40%5B%60%7B"), ("/:?#&=", "%2F%3A%3F%23%26%3D"), ("Grüße", "Gr%C3%BC%C3%9Fe"),
        ("😀", "%F0%9F%98%80"), (#"{"data":{}}"#, "%7B%22data%22%3A%7B%7D%7D"),
    ])
    func encodesEveryOtherByte(_ text: String, _ expected: String) {
        #expect(text.percentEncoded == expected)
    }

    @Test func everyTextReadsBack() {
        for number in UInt32(0)...0x2FF {
            guard let scalar = UnicodeScalar(number) else { continue }
            let text = String(Character(scalar))
            #expect(text.percentEncoded.removingPercentEncoding == text)
        }
    }
}
