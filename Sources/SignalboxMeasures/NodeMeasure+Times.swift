import Foundation
import SignalboxNotification
import SignalboxPostgres
import SignalboxStore

/// Times of single deliveries and claims, in milliseconds.
extension NodeMeasure {
    /// Claims and settles batches of 50; returns the time of each claim.
    public func claimTimes(_ rounds: Int) async throws -> [Double] {
        guard let store = try await stores(areOpen: true).first else { return [] }
        var times: [Double] = []
        for _ in 0..<rounds {
            let start = ContinuousClock.now
            let leases = try await store.claim(from: Self.destination, upTo: 50)
            times.append((ContinuousClock.now - start) / .milliseconds(1))
            _ = try await settle(leases, in: store)
        }
        return times
    }

    /// The time from the commit of a delivery to its lease at another node. The node that accepts it has no room in
    /// memory, and does not claim.
    public func spillTimes(_ rounds: Int) async throws -> [Double] {
        let full = try await stores(areOpen: true)[0]
        for _ in 0..<HandOff.window / 256 { try await full.append(events(256)) }
        let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let free = try PostgresStore(PostgresTarget(url: url))
        free.openLane(Self.destination) { wake.yield() }
        return try await withThrowingTaskGroup(of: [Double].self) { group in
            // As often as the dispatcher of a gateway.
            group.addTask {
                while true {
                    try await free.tick()
                    try await Task.sleep(for: .milliseconds(200))
                }
            }
            group.addTask { try await spillTimes(rounds, from: full, to: free, wakes) }
            defer { group.cancelAll() }
            return try await group.next() ?? []
        }
    }

    private func spillTimes(
        _ rounds: Int, from full: PostgresStore, to free: PostgresStore, _ wakes: AsyncStream<Void>
    ) async throws -> [Double] {
        var times: [Double] = []
        var wakes = wakes.makeAsyncIterator()
        for _ in 0..<rounds {
            // At a random time between two ticks.
            try await Task.sleep(for: .milliseconds(.random(in: 0..<200)))
            try await full.append(events(1))
            let start = ContinuousClock.now
            var leases: [Lease] = []
            while leases.isEmpty {
                leases = try await free.claim(from: Self.destination, upTo: 50)
                if leases.isEmpty { await wakes.next() }
            }
            times.append((ContinuousClock.now - start) / .milliseconds(1))
            _ = try await settle(leases, in: free)
        }
        return times
    }
}
