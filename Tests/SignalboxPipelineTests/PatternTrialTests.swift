import Foundation
import SignalboxRouting
import SignalboxStore
import Synchronization
import Testing

@testable import SignalboxGateway

@Suite struct PatternTrialTests {
    private static func events(_ bodies: [String]) -> [EventBody] {
        bodies.enumerated().map { EventBody(id: "\($0)", acceptedAt: Date(), body: Array($1.utf8)) }
    }

    private static func pattern(_ text: String) throws -> Pattern { try Pattern(text: Array(text.utf8)) }

    @Test func namesTheFieldAndTheValueThatWasFound() async throws {
        let events = Self.events([
            #"{"data":{"kind":"alert"}}"#, #"{"data":{"kind":"silent"}}"#, #"{"data":{}}"#, "damaged",
        ])
        let pattern = try Self.pattern(#"{"data":{"kind":["alert"]}}"#)
        let trial = await PatternTrial(pattern, on: events, within: Self.unlimited)
        #expect(trial.seen == 4 && trial.matched == 1 && trial.isComplete)
        #expect(trial.samples.map(\.event.id) == ["0", "1", "2"])
        #expect(trial.samples.map(\.mismatch?.pointer) == [nil, "/data/kind", "/data/kind"])
        #expect(trial.samples.map(\.mismatch?.found) == [nil, "\"silent\"", nil])
    }

    @Test func samplesAreBounded() async throws {
        // One character may have any number of marks.
        let long = #"{"data":{"kind":"x\#(String(repeating: "\u{301}", count: 5000))"}}"#
        let bodies = Array(repeating: #"{"data":{"kind":"alert"}}"#, count: 120) + Array(repeating: long, count: 120)
        let pattern = try Self.pattern(#"{"data":{"kind":["alert"]}}"#)
        let trial = await PatternTrial(pattern, on: Self.events(bodies), within: Self.unlimited)
        #expect(trial.seen == 240 && trial.matched == 120)
        #expect(trial.samples.count == 2 * PatternTrial.mostSamples)
        #expect(trial.samples.allSatisfy { ($0.mismatch?.found ?? "").unicodeScalars.count <= PatternTrial.longest })
    }

    /// The clock advances by a second whenever it is read.
    @Test func endsAtItsDeadline() async throws {
        let clock = Mutex(ContinuousClock.now)
        let slices = WorkSlices(upTo: .seconds(8)) {
            clock.withLock { now in
                now += .seconds(1)
                return now
            }
        }
        let events = Self.events(Array(repeating: "{}", count: 9))
        let trial = await PatternTrial(try Self.pattern("{}"), on: events, within: slices)
        #expect((1..<9).contains(trial.seen) && !trial.isComplete)
    }

    @Test func triesNoEventAfterItsDeadline() async throws {
        let trial = await PatternTrial(
            try Self.pattern("{}"), on: Self.events(["{}"]), within: WorkSlices(upTo: .zero))
        #expect(trial.seen == 0 && !trial.isComplete)
    }

    private static var unlimited: WorkSlices { WorkSlices(upTo: .seconds(3600)) }
}
