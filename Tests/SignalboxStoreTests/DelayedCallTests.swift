import SignalboxTesting
import Testing

@testable import SignalboxStore

@Suite(.timeLimit(.minutes(15))) struct DelayedCallTests {
    @Test func awaitsWorkNoLongerThanTheLimit() async {
        let timer = ManualTimer()
        let delayed = DelayedCall { timer.schedule(after: $0, $1) }
        let (hold, end) = AsyncStream<Void>.makeStream()
        async let result = delayed.result(within: .seconds(15)) {
            for await _ in hold { break }
            return 1
        }
        while timer.count == 0 { await Task.yield() }
        timer.pass(.seconds(15))
        let late = await result
        #expect(late == nil)
        end.finish()
        let early = await delayed.result(within: .seconds(15)) { 2 }
        #expect(early == 2)
        timer.pass(.seconds(15))
    }
}
