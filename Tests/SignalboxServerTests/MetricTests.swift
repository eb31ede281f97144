import Testing

@testable import SignalboxServer

@Suite struct MetricTests {
    @Test func everyMetricIsDeclaredOnce() {
        let names = Metric.all.map(\.name)
        #expect(Set(names).count == names.count)
    }

    @Test func failedProofsAreAClosedSet() {
        #expect(Set(FailedProof.all).count == FailedProof.all.count)
        #expect(
            FailedProof.all.contains(.apns(.missingProviderToken)) && FailedProof.all.contains(.token(.invalidGrant)))
        #expect(!FailedProof.all.contains(.apns(.badDeviceToken)))
    }

    @Test func countersEndInTotal() {
        for metric in Metric.all {
            #expect(metric.name.hasSuffix("_total") == (metric.kind == .counter), "\(metric.name)")
        }
    }
}
