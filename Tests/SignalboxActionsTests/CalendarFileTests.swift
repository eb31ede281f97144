import Foundation
import SignalboxJSON
import SignalboxTesting
import Testing

@testable import SignalboxNotification

/// Files for calendars. `make test` also runs Tests/verify-calendars.py on every file that these tests record.
@Suite struct CalendarFileTests {
    private static let uid = "01939b4e-7c1a-7d2e-9a54-0c8f6f1f3c11@demo"
    private static let stamp = Date(timeIntervalSince1970: 1_795_210_140)

    @Test(arguments: try ActionFixtures.files(in: "calendars").map(\.name))
    func makesAFileOfEachFixture(_ name: String) throws {
        let text = try #require(try ActionFixtures.files(in: "calendars").first { $0.name == name }).text
        try ActionFixtures.forEach(in: text) { value in
            let action = Action(.calendar, arguments: JSONText(try #require(value["arguments"])))
            let file = try CalendarFile(action: action, uid: Self.uid, stamp: Self.stamp)
            let problems = value["problems"]?.elements.compactMap(\.string) ?? []
            #expect(file.problems.map(\.code.rawValue) == problems)
            var expected = ["uid": Self.uid]
            for key in ["start", "end", "zone", "endZone", "summary", "notes"] {
                expected[key] = value.member(key)?.string
            }
            try CalendarRecorder.record(name, file.bytes, expected: expected)
        }
    }

    @Test func isWrittenAsRFC5545HasIt() throws {
        let action = try calendar(
            #"{"title": "Flight", "timeZone": "America/New_York", "startDate": "2026-07-07T10:00:00Z", "endDate": "2026-07-07T12:30:00Z", "description": "Seat 4A, window"}"#
        )
        let file = try CalendarFile(action: action, uid: "1@demo", stamp: Self.stamp)
        let expected = """
            BEGIN:VCALENDAR
            VERSION:2.0
            PRODID:-//Signalbox//Signalbox//EN
            BEGIN:VTIMEZONE
            TZID:America/New_York
            BEGIN:DAYLIGHT
            DTSTART:20260308T020000
            TZOFFSETFROM:-0500
            TZOFFSETTO:-0400
            END:DAYLIGHT
            BEGIN:STANDARD
            DTSTART:20261101T020000
            TZOFFSETFROM:-0400
            TZOFFSETTO:-0500
            END:STANDARD
            END:VTIMEZONE
            BEGIN:VEVENT
            UID:1@demo
            DTSTAMP:20261120T212900Z
            DTSTART;TZID=America/New_York:20260707T060000
            DTEND;TZID=America/New_York:20260707T083000
            SUMMARY:Flight
            DESCRIPTION:Seat 4A\\, window
            END:VEVENT
            END:VCALENDAR

            """
        #expect(String(decoding: file.bytes, as: UTF8.self) == expected.replacing("\n", with: "\r\n"))
    }

    @Test(arguments: [
        #"America/New_York\u0000\rATTACH:http://a.example/"#, #"America/New_York\u0000:X"#, #"Europe/Berlin\u0000"#,
        #"CET\u0000\r\nX-A:1"#, #"Europe/Berlin;X=1"#, #"../zoneinfo/Europe/Berlin"#,
        String(repeating: "A", count: 65),
    ])
    func noNameOfAZoneWritesMoreThanItself(_ name: String) throws {
        let action = try calendar(#"{"title": "T", "startDate": "2026-07-07T10:00:00Z", "timeZone": "\#(name)"}"#)
        let file = try CalendarFile(action: action, uid: "1@demo", stamp: Self.stamp)
        #expect(file.problems.map(\.code).contains(.timeZoneUnknown))
        let text = String(decoding: file.bytes, as: UTF8.self)
        #expect(!text.contains("TZID") && text.contains("DTSTART:20260707T100000Z\r\n"))
    }

    @Test(arguments: ["Asia/Kolkata", "GMT+05:30"])
    func aZoneWhoseOffsetStaysIsExplainedOnce(_ name: String) throws {
        let action = try calendar(
            #"{"title": "T", "timeZone": "\#(name)", "startDate": "2026-07-07T10:00:00Z", "endDate": "2026-07-07T12:30:00Z"}"#
        )
        let file = try CalendarFile(action: action, uid: Self.uid, stamp: Self.stamp)
        #expect(String(decoding: file.bytes, as: UTF8.self).components(separatedBy: "BEGIN:STANDARD").count == 2)
        let expected = [
            "uid": Self.uid, "start": "2026-07-07T10:00:00Z", "end": "2026-07-07T12:30:00Z", "summary": "T",
        ]
        try CalendarRecorder.record("constant \(name)", file.bytes, expected: expected)
    }

    @Test func theSameActionMakesTheSameBytes() throws {
        let action = try calendar(#"{"title": "Doors", "startDate": "2026-07-07T10:00:00Z", "timeZone": "CET"}"#)
        let files = try (0..<2).map { _ in try CalendarFile(action: action, uid: Self.uid, stamp: Self.stamp) }
        #expect(files[0] == files[1])
    }

    @Test func rejectsTextsThatAreNotEvents() {
        #expect(throws: ActionProblem.self) {
            try CalendarFile(action: Action(.calendar), uid: Self.uid, stamp: Self.stamp)
        }
    }

    /// Random instants, half of them within two hours of a change of the clocks.
    @Test func instantsAreKeptInEveryZone() throws {
        let seed: UInt64 = 5545
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let zones = [
            "America/New_York", "America/Sao_Paulo", "America/St_Johns", "Europe/Berlin", "Europe/Dublin",
            "Europe/Istanbul", "Africa/Casablanca", "Asia/Kathmandu", "Asia/Tehran", "Australia/Lord_Howe",
            "Pacific/Apia", "Pacific/Chatham", "Antarctica/Troll", "Etc/UTC", "EST", "JST",
        ]
        for _ in 0..<300 {
            let name = try #require(zones.randomElement(using: &random))
            let zone = try #require(TimeZone(abbreviation: name) ?? TimeZone(identifier: name))
            var start = Date(
                timeIntervalSince1970: TimeInterval(Int.random(in: 946_684_800..<1_893_456_000, using: &random)))
            if Bool.random(using: &random), let change = zone.nextDaylightSavingTimeTransition(after: start) {
                start = change.addingTimeInterval(TimeInterval(Int.random(in: -7200...7200, using: &random)))
            }
            let end = start.addingTimeInterval(TimeInterval(Int.random(in: 1...200_000, using: &random)))
            let dates = [start, end].map { Timestamp($0).text.replacing(".000Z", with: "Z") }
            let action = try calendar(
                #"{"title": "T", "timeZone": "\#(name)", "startDate": "\#(dates[0])", "endDate": "\#(dates[1])"}"#)
            let file = try CalendarFile(action: action, uid: Self.uid, stamp: Self.stamp)
            #expect(file.problems.isEmpty)
            let expected = ["uid": Self.uid, "start": dates[0], "end": dates[1], "summary": "T"]
            try CalendarRecorder.record("random in \(name)", file.bytes, expected: expected)
        }
    }

    /// Unfolding and unescaping restores a text, except for control characters.
    @Test func everyTextComesBack() throws {
        let seed: UInt64 = 2445
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let pieces = [
            "\\", ";", ",", "\n", "\r\n", "\ra", "n", "N", ":", "\"", " ", "\t", "a", "é", "€", "😀", "\u{1}",
            "e\u{301}",
        ]
        for _ in 0..<500 {
            let text = (0..<Int.random(in: 1...120, using: &random)).map { _ in
                pieces.randomElement(using: &random) ?? ""
            }
            .joined()
            var json = JSONWriter()
            json.beginObject()
            json.key("title")
            json.string(text)
            json.key("startDate")
            json.string("2026-07-07T10:00:00Z")
            json.endObject()
            let file = try CalendarFile(
                action: Action(.calendar, arguments: JSONText(json)), uid: Self.uid, stamp: Self.stamp)
            let expected = text.replacing("\r\n", with: "\n").replacing("\ra", with: "\na")
                .replacing("\u{1}", with: "")
            #expect(Self.summary(of: file.bytes).map { Array($0.unicodeScalars) } == Array(expected.unicodeScalars))
        }
    }

    /// A reader of its own, by the words of RFC 5545.
    private static func summary(of file: [UInt8]) -> String? {
        var bytes: [UInt8] = []
        var position = 0
        while position < file.count {
            let isFold = file[position...].starts(with: Array("\r\n ".utf8))
            if !isFold { bytes.append(file[position]) }
            position += isFold ? 3 : 1
        }
        guard let line = bytes.split(separator: 0x0A).first(where: { $0.starts(with: Array("SUMMARY:".utf8)) }) else {
            return nil
        }
        var text: [UInt8] = []
        var isEscaped = false
        for byte in line.dropFirst(8).dropLast() {
            if isEscaped {
                text.append(byte == UInt8(ascii: "n") ? 0x0A : byte)
            } else if byte != UInt8(ascii: "\\") {
                text.append(byte)
            }
            isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
        }
        return String(decoding: text, as: UTF8.self)
    }

    private func calendar(_ arguments: String) throws -> Action {
        let parser = JSONParser()
        return Action(.calendar, arguments: JSONText(try parser.parse(Array(arguments.utf8))))
    }
}
