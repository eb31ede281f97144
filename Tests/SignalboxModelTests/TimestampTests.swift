import Foundation
import SignalboxTesting
import Testing

@testable import SignalboxNotification

@Suite struct TimestampTests {
    private static let seed: UInt64 = 20_261_120

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
    func rejectsOtherTextsAsDates(_ written: String) {
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
    func secondsOutsideTheCalendarAreNotADate(_ seconds: Int64) {
        #expect(Timestamp(seconds: seconds) == nil)
    }

    // MARK: Dates

    @Test func datesAreWrittenAsFoundationWritesThem() throws {
        let foundation = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        var random = SeededGenerator(seed: Self.seed)
        let leapDays: [Int64] = [
            -2_203_977_600_000, 68_169_600_000, 951_782_400_000, 1_709_164_800_000, 4_107_456_000_000,
        ]
        var instants: [Int64] = [-86_400_000, -1, 0, 1]
        for day in leapDays { instants += [day - 1, day, day + 86_399_999, day + 86_400_000] }
        // Before, Foundation counts by the Julian calendar.
        let since1583: Range<Int64> = -12_212_553_600_000..<253_402_300_800_000
        for _ in 0..<3000 { instants.append(Int64.random(in: since1583, using: &random)) }
        for milliseconds in instants {
            // A fraction more, so that neither side's rounding matters to the other.
            let date = Date(timeIntervalSince1970: (Double(milliseconds) + 0.25) / 1000)
            let timestamp = Timestamp(date)
            #expect(timestamp.text == date.formatted(foundation), "\(milliseconds), seed \(Self.seed)")
            #expect(timestamp.milliseconds == milliseconds)
            #expect(self.timestamp(timestamp.text) == timestamp)
        }
    }

    @Test(arguments: [
        (-0.0005, "1969-12-31T23:59:59.999Z"), (0.0009, "1970-01-01T00:00:00.000Z"),
        (-62_167_219_200, "0000-01-01T00:00:00.000Z"), (-62_167_219_200.5, "0000-01-01T00:00:00.000Z"),
        (-1e18, "0000-01-01T00:00:00.000Z"), (253_402_300_799.9995, "9999-12-31T23:59:59.999Z"),
        (253_402_300_800, "9999-12-31T23:59:59.999Z"), (1e300, "9999-12-31T23:59:59.999Z"),
        (Double.infinity, "9999-12-31T23:59:59.999Z"), (-Double.infinity, "0000-01-01T00:00:00.000Z"),
        (Double.nan, "1970-01-01T00:00:00.000Z"),
    ])
    func datesAreRoundedDownAndKeptInTheCalendar(_ seconds: Double, _ text: String) {
        #expect(Timestamp(Date(timeIntervalSince1970: seconds)).text == text)
    }

    /// RFC 3339, 5.6.
    @Test func theLettersMayBeInLowerCase() {
        #expect(timestamp("2026-11-20t21:29:00z")?.text == "2026-11-20T21:29:00.000Z")
        #expect(timestamp("2026-11-20t21:29:00+01:00")?.text == "2026-11-20T20:29:00.000Z")
    }

    @Test func textsSortAsInstantsDo() throws {
        var random = SeededGenerator(seed: Self.seed)
        let timestamps = (0..<500).map { _ in
            Timestamp(Date(timeIntervalSince1970: Double.random(in: -6e10...2.5e11, using: &random)))
        }
        #expect(timestamps.sorted().map(\.text) == timestamps.map(\.text).sorted())
    }

    private func timestamp(_ text: String) -> Timestamp? {
        Array(text.utf8).withUnsafeBufferPointer { Timestamp(iso8601: $0) }
    }
}
