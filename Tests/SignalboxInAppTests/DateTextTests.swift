import Foundation
import Testing

@testable import SignalboxInApp

/// Texts that are dates: RFC 3339, section 5.6.
@Suite struct DateTextTests {
    private func instant(_ text: String) -> Instant? { PropertyValue.text(text).instant }

    @Test func readsDatesOfRFC3339() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", 0), ("1969-12-31T23:59:59Z", -1000), ("2026-11-22T12:00:00Z", noon),
            ("2026-11-22T13:30:00+01:30", noon), ("2026-11-22T07:00:00-05:00", noon),
            ("2026-11-22T12:00:00.250Z", noon + 250), ("2026-11-22T12:00:00.123456789Z", noon + 123),
            ("2026-11-22t12:00:00z", noon), ("2026-11-22T13:00:00.250000000000+01:00", noon + 250),
            ("2024-02-29T00:00:00Z", 1_709_164_800_000), ("2000-03-01T00:00:00Z", 951_868_800_000),
        ] as [(String, Instant)] { #expect(instant(text) == expected, "\(text)") }
    }

    @Test func rejectsTextsThatAreNotDates() {
        for text in [
            "", "soon", "2026-11-22", "2026-11-22T12:00:00", "2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z",
            "2026-04-31T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-01T24:00:00Z",
            "2026-01-01T00:60:00Z", "2026-01-01T00:00:61Z", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00+1",
            "2026-01-01T00:00:00+25:00", "2026-01-01T00:00:00Zx", "٢٠٢٦-01-01T00:00:00Z",
            String(repeating: "2026-01-01T00:00:00Z", count: 50),
        ] { #expect(instant(text) == nil, "\(text)") }
    }

    /// Foundation's reader is the reference.
    @Test func agreesWithFoundation() throws {
        var random = Seeded(7)
        for _ in 0..<500 {
            let time = Instant(random.below(4_000_000_000)) * 1000 - 1_000_000_000_000
            let date = Date(timeIntervalSince1970: Double(time) / 1000)
            let zone = try #require(TimeZone(secondsFromGMT: (random.below(48) - 24) * 1800))
            let style = Date.ISO8601FormatStyle(timeZoneSeparator: .colon, timeZone: zone)
            let text = style.format(date)
            #expect(instant(text) == time, "\(text)")
        }
    }
}
