import Foundation
import SignalboxRouting
import SignalboxStore
import Testing

@testable import SignalboxGateway

@Suite struct PatternTrialTests {
    private static func events(_ bodies: [String]) -> [EventBody] {
        bodies.enumerated().map { EventBody(id: "\($0)", acceptedAt: Date(), body: Array($1.utf8)) }
    }

    private static func pattern(_ text: String) throws -> Pattern { try Pattern(text: Array(text.utf8)) }

    @Test func namesTheFieldAndTheValueThatWasFound() throws {
        let events = Self.events([
            #"{"data":{"kind":"alert"}}"#, #"{"data":{"kind":"silent"}}"#, #"{"data":{}}"#, "damaged",
        ])
        let trial = PatternTrial(try Self.pattern(#"{"data":{"kind":["alert"]}}"#), on: events) { true }
        #expect(trial.seen == 4 && trial.matched == 1 && trial.isComplete)
        #expect(trial.samples.map(\.event.id) == ["0", "1", "2"])
        #expect(trial.samples.map(\.mismatch?.pointer) == [nil, "/data/kind", "/data/kind"])
        #expect(trial.samples.map(\.mismatch?.found) == [nil, "\"silent\"", nil])
    }

    @Test func samplesAreBounded() throws {
        let long = #"{"data":{"kind":"\#(String(repeating: "x", count: 5000))"}}"#
        let bodies = Array(repeating: #"{"data":{"kind":"alert"}}"#, count: 120) + Array(repeating: long, count: 120)
        let trial = PatternTrial(try Self.pattern(#"{"data":{"kind":["alert"]}}"#), on: Self.events(bodies)) { true }
        #expect(trial.seen == 240 && trial.matched == 120)
        #expect(trial.samples.count == 2 * PatternTrial.mostSamples)
        #expect(trial.samples.allSatisfy { ($0.mismatch?.found ?? "").count <= PatternTrial.longest })
    }

    @Test func endsAtItsDeadline() throws {
        var left = 3
        let trial = PatternTrial(
            try Self.pattern("{}"), on: Self.events(Array(repeating: "{}", count: 9))
        ) {
            left -= 1
            return left >= 0
        }
        #expect(trial.seen == 3 && !trial.isComplete)
    }
}
