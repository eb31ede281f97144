import Foundation
import SignalboxNotification
import SignalboxRouting
import Testing

@testable import SignalboxGateway
@testable import SignalboxServer

@Suite struct LiveSessionTests {
    private func selection(_ kinds: Set<RecentEntry.Kind> = [.event], rate: Int = 20) -> LiveSelection {
        var selection = LiveSelection()
        (selection.kinds, selection.hasStats, selection.rate) = (kinds, false, rate)
        return selection
    }

    @Test func beginsWithWhatHappensNext() throws {
        let setting = LiveSetting()
        setting.accept()
        var session = setting.session(selection())
        let first = LiveSetting.frames(session.bytes(at: setting.now))
        #expect(first.count == 1 && first[0].comment == "connected" && first[0].id != nil)
        setting.accept(title: "Second")
        let frames = LiveSetting.frames(session.bytes(at: setting.now))
        #expect(frames.map(\.event) == ["event"])
        let data = try #require(frames.first).data
        #expect(data["title"] as? String == "Second" && data["vendor"] as? String == "mce")
        #expect(data["source"] as? String == "mobile" && data["subject"] as? String == "mce/alert")
        #expect(data["type"] as? String == "io.signalbox.notification.received")
        #expect(data["warnings"] as? [String] == ["x.y"] && data["routes"] as? [String] == ["all"])
        #expect((data["bytes"] as? Int ?? 0) > 100)
        #expect(session.bytes(at: setting.now).isEmpty)
    }

    @Test func sendsNoMoreThanItsRate() {
        let setting = LiveSetting()
        for rate in [1, 3, 7, 20] {
            var session = setting.session(selection(rate: rate))
            var sent = 0
            for _ in 0..<50 {
                setting.accept(100)
                setting.advance(by: session.tick)
                sent += LiveSetting.frames(session.bytes(at: setting.now)).count { $0.event == "event" }
            }
            let seconds = Double(50) * (session.tick / .seconds(1))
            #expect(Double(sent) <= seconds * Double(rate) + 1, "\(rate)")
            #expect(Double(sent) >= seconds * Double(rate) - 1, "\(rate)")
        }
    }

    @Test func framesAndGapsAddUp() {
        let setting = LiveSetting()
        var session = setting.session(selection())
        var (frames, dropped) = (0, 0)
        func read() {
            for frame in LiveSetting.frames(session.bytes(at: setting.now)) {
                if frame.event == "event" { frames += 1 }
                dropped += frame.data["dropped"] as? Int ?? 0
            }
        }
        for _ in 0..<50 {
            setting.accept(6_000, of: "braze")
            setting.advance(by: session.tick)
            read()
        }
        for _ in 0..<10 {
            setting.advance(by: .seconds(1))
            read()
        }
        #expect(frames + dropped == 300_000)
        #expect(frames >= 150)
    }

    @Test func aRareVendorIsSeenWithinASecond() {
        let setting = LiveSetting()
        var session = setting.session(selection())
        for _ in 0..<20 {
            setting.accept(6_000, of: "braze")
            setting.advance(by: session.tick)
            _ = session.bytes(at: setting.now)
        }
        setting.accept(of: "granify")
        let sent = setting.now
        while setting.now - sent <= 1_000_000_000 {
            setting.accept(6_000, of: "braze")
            setting.advance(by: session.tick)
            let frames = LiveSetting.frames(session.bytes(at: setting.now))
            if frames.contains(where: { $0.data["vendor"] as? String == "granify" }) { return }
        }
        Issue.record("The event was not seen.")
    }

    @Test func aResumedStreamRepeatsNoFrameAndTellsTheGap() throws {
        let setting = LiveSetting()
        var session = setting.session(selection())
        setting.accept(3)
        let seen = LiveSetting.frames(session.bytes(at: setting.now)).filter { $0.event == "event" }
        let last = try #require(seen.last?.id)
        setting.accept(5_000, of: "braze")
        var resumed = setting.session(selection(), after: last)
        var (ids, dropped) = (seen.compactMap { $0.data["id"] as? String }, 0)
        for _ in 0..<100 {
            for frame in LiveSetting.frames(resumed.bytes(at: setting.now)) {
                if frame.event == "event" { ids.append(frame.data["id"] as? String ?? "") }
                dropped += frame.data["dropped"] as? Int ?? 0
            }
            setting.advance(by: resumed.tick)
        }
        #expect(Set(ids).count == ids.count)
        #expect(ids.count + dropped == 5_003)
    }

    @Test func aPositionOfTheFutureIsTheEnd() {
        let setting = LiveSetting()
        setting.accept()
        let cursor = setting.observation.recent.cursor(RecentPosition(events: 1000))
        var session = setting.session(selection(), after: cursor)
        _ = session.bytes(at: setting.now)
        setting.accept()
        #expect(LiveSetting.frames(session.bytes(at: setting.now)).count == 1)
    }

    @Test func aPatternSelectsEvents() throws {
        let setting = LiveSetting()
        var selection = selection()
        selection.filter = StreamFilter(try Pattern(text: Array(#"{"data":{"vendor":["mce"]}}"#.utf8)))
        var session = setting.session(selection)
        _ = session.bytes(at: setting.now)
        setting.accept(of: "braze")
        setting.accept(of: "mce")
        let frames = LiveSetting.frames(session.bytes(at: setting.now))
        #expect(frames.map { $0.data["vendor"] as? String } == ["mce"])
    }

    @Test func hidesTextsFromTokensWithoutContent() throws {
        let setting = LiveSetting()
        var selection = selection()
        selection.hidesContent = true
        var session = setting.session(selection)
        setting.accept(title: "Private")
        let bytes = session.bytes(at: setting.now)
        #expect(LiveSetting.frames(bytes).last?.data["title"] as? String == "[hidden]")
        #expect(!String(decoding: bytes, as: UTF8.self).contains("Private"))
    }

    @Test func pingsASilentReader() {
        let setting = LiveSetting()
        var session = setting.session(selection())
        _ = session.bytes(at: setting.now)
        setting.advance(by: .seconds(14))
        #expect(session.bytes(at: setting.now).isEmpty)
        setting.advance(by: .seconds(1))
        #expect(String(decoding: session.bytes(at: setting.now), as: UTF8.self) == ": ping\n\n")
        #expect(session.bytes(at: setting.now).isEmpty)
    }

    @Test func sendsCountsOnceASecond() throws {
        let setting = LiveSetting()
        var selection = selection([])
        selection.hasStats = true
        var session = setting.session(selection)
        setting.accept(5)
        #expect(LiveSetting.frames(session.bytes(at: setting.now)).map(\.event) == [nil])
        setting.advance(by: .seconds(1))
        let frames = LiveSetting.frames(session.bytes(at: setting.now))
        #expect(frames.map(\.event) == ["stats"])
        #expect(frames.first?.data["received"] as? [String: Int] == ["mce": 5])
        setting.advance(by: .seconds(1))
        #expect(session.bytes(at: setting.now).isEmpty)
    }

    @Test func describesDestinations() {
        let setting = LiveSetting()
        var session = setting.session(selection([.destination]))
        _ = session.bytes(at: setting.now)
        setting.observation.changed(DestinationName("crm"), to: "paused", because: "maintenance\nand\u{1B}[1m more")
        let frames = LiveSetting.frames(session.bytes(at: setting.now))
        #expect(frames.map(\.event) == ["destination"])
        #expect(frames.first?.data["reason"] as? String == "maintenance\nand\u{1B}[1m more")
        #expect(frames.first?.data["state"] as? String == "paused")
    }
}
