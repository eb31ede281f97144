import SignalboxCommands
import Testing

struct ResultsTests {
    @Test func certificatesAreLinesOrAnObject() {
        #expect(
            Results.certificates("a", "b", "c", asJSON: true) == #"{"ca":"a","certificate":"b","key":"c"}"#)
        #expect(Results.certificates("a", "b", "c", asJSON: false) == "ca: a\ncertificate: b\nkey: c")
    }
}
