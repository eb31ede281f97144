import SignalboxConfig
import SignalboxTesting
import Testing

@Suite struct DurationTests {
    @Test(
        arguments: [
            ("0ms", .zero), ("250ms", .milliseconds(250)), ("15s", .seconds(15)), ("10m", .seconds(600)),
            ("6h", .seconds(21_600)), ("7d", .seconds(604_800)), ("007s", .seconds(7)),
            ("1000000000d", .seconds(86_400_000_000_000)),
        ] as [(String, Duration)])
    func readsANumberAndAUnit(_ text: String, _ duration: Duration) {
        #expect(Duration(text: text) == duration)
    }

    @Test(arguments: [
        "", "s", "15", "15 s", " 15s", "15s ", "-15s", "+15s", "1.5s", "1,5s", "15S", "15sec", "1h30m", "1w", "1y",
        "٣s",
        "1000000001s", "9223372036854775807s", "9223372036854775808s", "99999999999999999999999ms", "0x10s", "1e3s",
    ])
    func rejectsOtherTexts(_ text: String) {
        #expect(Duration(text: text) == nil)
    }

    @Test(
        arguments: [
            (.zero, "0ms"), (.milliseconds(10), "10ms"), (.milliseconds(1500), "1500ms"), (.seconds(1), "1s"),
            (.seconds(90), "90s"), (.seconds(300), "5m"), (.seconds(5400), "90m"), (.seconds(21_600), "6h"),
            (.seconds(86_400), "1d"), (.seconds(129_600), "36h"), (.microseconds(1999), "1ms"),
        ] as [(Duration, String)])
    func isWrittenInTheLargestUnitThatFits(_ duration: Duration, _ text: String) {
        #expect(duration.text == text)
    }

    @Test func readsItsOwnText() {
        var random = SeededGenerator(seed: 20_261_120)
        for _ in 0..<2000 {
            let exponent = Int.random(in: 0...9, using: &random)
            let largest = (0..<exponent).reduce(Int64(10)) { number, _ in number * 10 }
            let duration = Duration.milliseconds(Int64.random(in: 0..<min(largest, 1_000_000_000), using: &random))
            #expect(Duration(text: duration.text) == duration)
        }
    }
}
