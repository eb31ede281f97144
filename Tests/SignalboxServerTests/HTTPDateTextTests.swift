import Testing

@testable import SignalboxServer

@Suite struct HTTPDateTextTests {
    /// The first is the specification's own example (RFC 9110, 5.6.7).
    @Test func spellsTimes() {
        var dates = HTTPDateText()
        #expect(dates.text(at: 784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(dates.text(at: 784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(dates.text(at: 0) == "Thu, 01 Jan 1970 00:00:00 GMT")
        #expect(dates.text(at: 1_709_208_000) == "Thu, 29 Feb 2024 12:00:00 GMT")
        #expect(dates.text(at: 4_102_444_799) == "Thu, 31 Dec 2099 23:59:59 GMT")
    }
}
