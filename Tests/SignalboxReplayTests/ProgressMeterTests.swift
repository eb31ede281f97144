import SignalboxGateway
import Testing

@Suite struct ProgressMeterTests {
    @Test func redrawsABarOnATerminal() {
        var meter = ProgressMeter(style: .terminal, totalBytes: 8_000_000, at: .seconds(100))
        #expect(meter.update(bytes: 1000, events: 1, rejected: 0, at: .milliseconds(100_199)) == nil)
        #expect(
            meter.update(bytes: 2_000_000, events: 5000, rejected: 2, at: .seconds(110))
                == "\r\u{1B}[K\u{1B}[?7l[#####---------------] 5000 events, 500/s, 2.0 MB, 2 rejected, 25 %, 30 s left"
                + "\u{1B}[?7h")
        #expect(meter.update(bytes: 2_000_000, events: 5000, rejected: 2, at: .milliseconds(110_100)) == nil)
        #expect(meter.end == "\r\u{1B}[K")
    }

    @Test func printsALineEveryFiveSecondsWithoutATerminal() {
        var meter = ProgressMeter(style: .lines, totalBytes: nil, at: .zero)
        #expect(meter.update(bytes: 900, events: 1, rejected: 0, at: .milliseconds(4999)) == nil)
        #expect(
            meter.update(bytes: 900, events: 50, rejected: 0, at: .seconds(5))
                == "signalbox: 50 events, 10/s, 900 B\n")
        #expect(meter.update(bytes: 900, events: 50, rejected: 0, at: .seconds(9)) == nil)
        #expect(meter.end.isEmpty)
    }

    @Test func countsAnEarlierRunAsDoneButNotAsSpeed() {
        var meter = ProgressMeter(style: .lines, totalBytes: 1_000_000_000, skippedBytes: 500_000_000, at: .zero)
        #expect(
            meter.update(bytes: 500_100_000, events: 100, rejected: 0, at: .seconds(10))
                == "signalbox: 100 events, 10/s, 500.1 MB, 50 %, 13 h 53 min left\n")
    }

    @Test func beginsAfterTheSettledPartOfAnInput() {
        var meter = ProgressMeter(style: .lines, totalBytes: 1000, at: .zero)
        meter.begin(after: 500, at: .seconds(10))
        #expect(
            meter.update(bytes: 600, events: 100, rejected: 0, at: .seconds(20))
                == "signalbox: 100 events, 10/s, 600 B, 60 %, 40 s left\n")
    }
}
