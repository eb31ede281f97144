import Testing

@testable import SignalboxServer

@Suite struct BodyBudgetTests {
    @Test func lendsNoMoreThanThereIs() async throws {
        let budget = BodyBudget(bytes: 10)
        try await budget.withPurse { first in
            try first.take(4)
            try first.take(3)
            try await budget.withPurse { second in
                let isRefused = refuses(4, from: second)
                #expect(isRefused)
                try second.take(3)
            }
            try await budget.withPurse { try $0.take(3) }
        }
        try await budget.withPurse { try $0.take(10) }
    }

    @Test func getsBackWhatAFailureHeld() async throws {
        struct Broken: Error {}
        let budget = BodyBudget(bytes: 1)
        await #expect(throws: Broken.self) {
            try await budget.withPurse { purse in
                try purse.take(1)
                throw Broken()
            }
        }
        try await budget.withPurse { try $0.take(1) }
    }

    private func refuses(_ count: Int, from purse: borrowing BodyBudget.Purse) -> Bool {
        do throws(Problem) {
            try purse.take(count)
            return false
        } catch {
            return true
        }
    }
}
