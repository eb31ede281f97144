import Foundation
import SignalboxConfig
import Testing

@testable import SignalboxGateway

@Suite struct ConfigHistoryTests {
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    private func files(_ count: Int) -> [ConfigText] {
        [ConfigText(name: "routes.json", bytes: Array(#"{"destinations":{"crm":{"concurrency":\#(count)}}}"#.utf8))]
    }

    @Test func comparesEachConfigWithTheActiveOne() throws {
        let history = ConfigHistory()
        history.activate("one", files(1), at: now)
        history.activate("one", files(1), at: now)
        history.refuse(files(3), problems: ["routes.json:1:2: error: …"], at: now + 1)
        history.activate("two", files(2), at: now + 2)
        let entries = history.entries
        #expect(entries.map(\.isRefused) == [false, true, false])
        #expect(history.activeDigest == "two")
        #expect(entries.map { $0.diff?.changes.first?.from } == ["1", "1", nil])
        #expect(entries.map { $0.diff?.changes.first?.to } == ["2", "3", nil])
        #expect(entries[1].problems.count == 1 && entries[1].digest.count == 64)
    }

    @Test func keepsTheLastTwenty() {
        let history = ConfigHistory()
        for number in 0..<50 { history.activate("\(number)", files(number), at: now) }
        for _ in 0..<5 { history.refuse([], problems: ["cannot be read"], at: now) }
        #expect(history.entries.count == ConfigHistory.most)
        #expect(history.entries.first?.digest == "" && history.entries.first?.diff == nil)
        #expect(history.activeDigest == "49")
    }
}
