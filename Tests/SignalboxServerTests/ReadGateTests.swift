import HTTPTypes
import SignalboxStore
import SignalboxTesting
import Testing

@testable import SignalboxServer

/// Requests that compute over payloads run a few at a time.
@Suite(.timeLimit(.minutes(1))) struct ReadGateTests {
    @Test func admitsInTheOrderOfArrival() {
        var queue = ReadQueue(slots: 2, places: 2)
        let entries = (0..<5).map { _ in queue.enter() }
        #expect(entries == [.runs, .runs, .waits(1), .waits(2), .refused])
        let next = (0..<3).map { _ in queue.leave() }
        #expect(next == [1, 2, nil])
        let later = queue.enter()
        #expect(later == .runs)
    }

    @Test func aRequestThatGaveUpHasNoTurn() {
        var queue = ReadQueue(slots: 1, places: 2)
        let entries = (0..<3).map { _ in queue.enter() }
        #expect(entries == [.runs, .waits(1), .waits(2)])
        let gaveUp = [queue.giveUp(1), queue.giveUp(1)]
        #expect(gaveUp == [true, false])
        let next = queue.leave()
        #expect(next == 2)
        let isLate = !queue.giveUp(2)
        #expect(isLate)
    }

    /// The answer names the time after which a client tries again.
    @Test func refusesBeyondItsPlaces() async throws {
        let gate = ReadGate(slots: 1, places: 0)
        let problem = await #expect(throws: Problem.self) {
            try await gate.run { try await gate.run {} }
        }
        #expect(problem?.code == "reads-busy" && problem?.headers[.retryAfter] == "1")
        let result = try await gate.run { 7 }
        #expect(result == 7, "the place is free again")
    }

    @Test func aRequestWaitsForALimitedTime() async throws {
        let timer = ManualTimer()
        let gate = ReadGate(slots: 1, places: 1, delayed: DelayedCall { timer.schedule(after: $0, $1) })
        let problem = await #expect(throws: Problem.self) {
            try await gate.run {
                async let second: Void = gate.run {}
                while timer.count == 0 { await Task.yield() }
                timer.pass(ReadGate.patience)
                try await second
            }
        }
        #expect(problem == .readsBusy)
    }

    @Test func aWaitingRequestRunsWhenTheFirstEnds() async throws {
        let timer = ManualTimer()
        let gate = ReadGate(slots: 1, places: 1, delayed: DelayedCall { timer.schedule(after: $0, $1) })
        let second = try await gate.run {
            let second = Task { try await gate.run { 2 } }
            while timer.count == 0 { await Task.yield() }
            return second
        }
        let result = try await second.value
        #expect(result == 2)
    }

    /// Work that reads payloads must not pass by the gate.
    @Test func searchesAndExplanationsAreHeavy() {
        let light = Endpoint.all.filter { if case .light = $0.work { true } else { false } }
        for path in [
            "/v1/explain", "/v1/events/{id}/explain", "/v1/events/search", "/v1/routes/test", "/v1/routes/match",
            "/v1/captures/search", "/v1/inapp/explain",
        ] {
            #expect(!light.contains { $0.path == path }, "\(path)")
        }
        #expect(light.contains { $0.path == "/v1/notifications" })
    }
}
