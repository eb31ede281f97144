import Testing

@testable import SignalboxGateway

@Suite struct SampleGateTests {
    private static let second: Int64 = 1_000_000_000

    @Test func aBucketHasOneSecondsWorthAndRefills() {
        let bucket = AtomicBucket(perSecond: 10)
        #expect((0..<100).count { _ in bucket.take(at: 0) } == 10)
        #expect(!bucket.take(at: Self.second / 10 - 1))
        #expect(bucket.take(at: Self.second / 10))
        #expect(!bucket.take(at: Self.second / 10))
        #expect((0..<100).count { _ in bucket.take(at: 60 * Self.second) } == 10)
    }

    @Test func aClockThatStandsStillGivesNoTokens() {
        let bucket = AtomicBucket(perSecond: 1)
        #expect((0..<1000).count { _ in bucket.take(at: 7) } == 1)
    }

    /// 30,000 events a second of one vendor.
    @Test func aFloodIsSampledAtTheCommonRateAndItsOwn() {
        let gate = SampleGate<String>()
        let admitted = (0..<300_000).count { number in gate.admits("braze", at: Int64(number) * Self.second / 30_000) }
        // Ten seconds, and the tokens of the first moment.
        #expect((2_000...2_260).contains(admitted))
    }

    @Test func oneEventOfARareVendorPassesAmongAFlood() {
        let gate = SampleGate<String>()
        for number in 0..<60_000 { _ = gate.admits("braze", at: Int64(number) * Self.second / 30_000) }
        let now = 2 * Self.second
        // Its own tokens, and at most one that the flood has not taken yet.
        #expect((5...6).contains((0..<10).count { _ in gate.admits("granify", at: now) }))
    }

    @Test func furtherKeysShareOneRate() {
        let gate = SampleGate<String>()
        while gate.admits("flood", at: 0) {}
        for key in 1..<SampleGate<String>.mostKeys { #expect(gate.admits("key\(key)", at: 0)) }
        let rest = (0..<1000).count { gate.admits("more\($0)", at: 0) }
        #expect(rest == 5)
    }
}
