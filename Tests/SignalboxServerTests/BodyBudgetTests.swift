import Testing

@testable import SignalboxServer

@Suite struct BodyBudgetTests {
    @Test func lendsNoMoreThanThereIs() async throws {
        let budget = BodyBudget(bytes: 10)
        try await budget.withBytes(7) {
            await #expect(throws: Problem.self) { try await budget.withBytes(4) {} }
            try await budget.withBytes(3) {}
        }
        try await budget.withBytes(10) {}
    }

    @Test func getsBackWhatAFailureHeld() async throws {
        struct Broken: Error {}
        let budget = BodyBudget(bytes: 1)
        await #expect(throws: Broken.self) { try await budget.withBytes(1) { throw Broken() } }
        try await budget.withBytes(1) {}
    }
}
