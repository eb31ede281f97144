import SignalboxMedia
import SignalboxModel
import SignalboxTesting
import Testing

@Suite struct MediaKindTests {
    @Test func nothingIsNothingInParticular() {
        #expect(MediaKind(beginning: []) == .other)
    }

    @Test(arguments: [
        ("BEGIN:VCALENDAR\r\n", MediaKind.calendar), ("BEGIN:VCARD\r\nVER", .other), ("BEGIN:VCALENDA", .other),
        ("\u{FEFF}begin:vcalendar\r\n", .calendar),
    ])
    func aCalendarIsKnownByItsFirstLine(_ text: String, kind: MediaKind) {
        #expect(MediaKind(beginning: Array(text.utf8)) == kind)
    }
}
