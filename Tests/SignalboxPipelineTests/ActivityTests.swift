import Foundation
import SignalboxTesting
import Testing

@testable import SignalboxGateway

@Suite struct ActivityTests {
    @Test func aSeriesKeepsFifteenMinutes() {
        var series = SecondSeries()
        series.add(3, at: 1000)
        series.add(4, at: 1001)
        #expect(series[1000] == 3 && series[1001] == 4 && series[1002] == 0)
        series.add(1, at: 1000 + 899)
        #expect(series[1000] == 3)
        series.add(1, at: 1000 + 900)
        #expect(series[1000] == 0 && series[1001] == 4)
        series.add(5, at: 999)
        #expect(series[999] == 0)
        series.add(2, at: 10_000_000)
        #expect(series[1899] == 0 && series[10_000_000] == 2)
    }

    /// A plain dictionary of the newest 900 seconds.
    @Test(arguments: [1, 2, 3] as [UInt64])
    func aSeriesEqualsItsModel(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var (series, model, newest) = (SecondSeries(), [Int64: Int](), Int64(0))
        var second: Int64 = 5000
        for _ in 0..<2000 {
            second += Int64.random(in: -20...60, using: &random)
            let count = Int.random(in: 1...9, using: &random)
            newest = max(newest, second)
            if second > newest - 900 { model[second, default: 0] += count }
            model = model.filter { $0.key > newest - 900 }
            series.add(count, at: second)
            let probe = second + Int64.random(in: -1000...10, using: &random)
            #expect(series[probe] == model[probe, default: 0], "seed \(seed)")
        }
    }

    @Test func countsByTheSecondOfTheLastCompleteSteps() throws {
        let setting = ObservationSetting()
        let activity = setting.observation.activity
        activity.count(.received, "mce", times: 2, at: setting.now)
        setting.advance(by: .seconds(1))
        activity.count(.received, "mce", times: 3, at: setting.now)
        activity.count(.rejected, "payload-not-json", at: setting.now)
        #expect(activity.series(window: 2, step: 1).sums == [.received: ["mce": [0, 2]]])
        setting.advance(by: .seconds(1))
        let series = activity.series(window: 2, step: 1)
        #expect(series.from == ObservationSetting.start)
        #expect(series.sums == [.received: ["mce": [2, 3]], .rejected: ["payload-not-json": [0, 1]]])
        #expect(activity.series(window: 4, step: 2).sums[.received] == ["mce": [0, 5]])
        #expect(activity.vendors["mce"]?.events == 5)
    }

    @Test func everyThreadCounts() async {
        let setting = ObservationSetting()
        let activity = setting.observation.activity
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<1000 { activity.count(.received, "mce", at: setting.now) } }
            }
        }
        setting.advance(by: .seconds(1))
        #expect(activity.series(window: 1, step: 1).sums == [.received: ["mce": [8000]]])
    }

    @Test func furtherNamesAreCountedTogether() {
        let setting = ObservationSetting()
        for number in 0..<1000 { setting.observation.activity.count(.received, "v\(number)", at: setting.now) }
        setting.advance(by: .seconds(1))
        let sums = setting.observation.activity.series(window: 1, step: 1).sums[.received] ?? [:]
        #expect(sums.count == ActivityCounts.mostNames + 1)
        #expect(sums[ActivityCounts.other] == [800])
        #expect(setting.observation.activity.vendors.values.reduce(0) { $0 + $1.events } == 1000)
    }
}
