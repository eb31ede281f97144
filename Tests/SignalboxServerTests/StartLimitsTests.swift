import Foundation
import Testing

@testable import SignalboxServer

@Suite struct StartLimitsTests {
    private let limits = StartLimits(cores: 2, quota: 2)

    @Test func growWithTheCores() {
        #expect(limits.threads == 24 && limits.files == 64)
        let large = StartLimits(cores: 64, quota: 64)
        #expect(large.threads == 272 && large.files == 416)
    }

    /// The runtime starts threads for all cores of the machine.
    @Test func dependOnTheQuotaOnlyForTheServers() {
        let limits = StartLimits(cores: 64, quota: 1)
        #expect(limits.threads == 146 && limits.files == 64)
    }

    @Test func acceptsEnough() {
        for files in [64, nil] { #expect(limits.fault(openFiles: files) { $0 == 24 ? 0 : EINVAL } == nil) }
        #expect(StartLimits.fault() == nil, "the tests have enough of both")
    }

    @Test func namesTheLimitAndItsRemedy() throws {
        let files = try #require(limits.fault(openFiles: 63) { _ in 0 })
        #expect(files.hasPrefix("serve needs at least 64 open files on 2 cores, and the limit is 63. Raise it with"))
        let threads = try #require(limits.fault(openFiles: 64) { _ in EAGAIN })
        #expect(threads.hasPrefix("serve needs 24 threads on 2 cores, and the system permits fewer: Resource"))
        #expect(threads.contains("TasksMax="))
    }
}
