import Testing

@testable import SignalboxVendors

@Suite struct TimestampTests {
    @Test(arguments: [
        ("2012-04-23T18:25:43Z", "2012-04-23T18:25:43.000Z"),
        ("2012-04-23T18:25:43.2Z", "2012-04-23T18:25:43.200Z"),
        ("2012-04-23T18:25:43.234567Z", "2012-04-23T18:25:43.234Z"),
        ("2024-02-29T23:59:59.999Z", "2024-02-29T23:59:59.999Z"),
        ("2000-02-29T00:00:00Z", "2000-02-29T00:00:00.000Z"),
        ("1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"),
        ("2024-03-01T01:30:00+02:00", "2024-02-29T23:30:00.000Z"),
        ("2023-12-31T23:30:00-00:45", "2024-01-01T00:15:00.000Z"),
        ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000Z"),
        ("9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"),
    ])
    func readsDatesOfVendorsAndWritesThemOneWay(_ written: String, _ spelled: String) {
        #expect(timestamp(written)?.text == spelled)
    }

    @Test(arguments: [
        "", "tomorrow", "2012-04-23", "2012-04-23T18:25:43", "2012-04-23 18:25:43Z", "2012-04-23T18:25Z",
        "2012-4-23T18:25:43Z", "2023-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2012-04-31T00:00:00Z",
        "2012-00-10T00:00:00Z", "2012-13-10T00:00:00Z", "2012-04-00T00:00:00Z", "2012-04-23T24:00:00Z",
        "2012-04-23T18:60:00Z", "2012-04-23T18:25:60Z", "2012-04-23T18:25:43.Z", "2012-04-23T18:25:43.1",
        "2012-04-23T18:25:43Zx", "2012-04-23T18:25:43+2:00", "2012-04-23T18:25:43+24:00",
        "0000-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "+012-04-23T18:25:43Z",
    ])
    func takesNothingElseForADate(_ written: String) {
        #expect(timestamp(written) == nil)
    }

    @Test func everyDayOfFourCenturiesReadsBack() {
        for day in stride(from: Int64(-20_000), to: 130_000, by: 1) {
            guard let date = Timestamp(seconds: day * 86_400) else {
                Issue.record("No date for day \(day)")
                return
            }
            if timestamp(date.text) != date { Issue.record("\(date.text) does not read back") }
        }
    }

    @Test(arguments: [Int64.min, -62_167_219_201, 253_402_300_800, .max])
    func secondsOutsideTheCalendarAreNoDate(_ seconds: Int64) {
        #expect(Timestamp(seconds: seconds) == nil)
    }

    private func timestamp(_ text: String) -> Timestamp? {
        Array(text.utf8).withUnsafeBufferPointer { Timestamp(iso8601: $0) }
    }
}
