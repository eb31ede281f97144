import Foundation
import SignalboxNotification
import SignalboxTesting
import Testing

@testable import SignalboxSQLite
@testable import SignalboxStore

/// A destination that batches claims a thousand deliveries at once; large events must not fill the memory.
@Suite(.timeLimit(.minutes(15))) struct ClaimBytesTests {
    private let crm = DestinationName("crm")

    @Test func aClaimEndsAtItsBytes() async throws {
        try await withTemporaryDirectory { directory in
            try await fill(directory, keys: [nil, nil, nil, nil, nil])
            #expect(try await claims(in: directory, isOrdered: false) == [[1, 2], [3, 4], [5], []])
        }
    }

    /// The next claim begins with the key that was left.
    @Test func aClaimInOrderEndsAtItsBytes() async throws {
        try await withTemporaryDirectory { directory in
            try await fill(directory, keys: ["e", "d", "c", "b", "a"])
            #expect(try await claims(in: directory, isOrdered: true) == [[5, 4], [3, 2], [1], []])
        }
    }

    /// Events of 9 MiB that no lane receives in memory. Their bodies begin with their numbers, from 1.
    private func fill(_ directory: String, keys: [String?]) async throws {
        let queue = try SQLiteQueue(in: directory)
        for (position, key) in keys.enumerated() {
            let body = [UInt8(position + 1)] + [UInt8](repeating: 0x20, count: 9 << 20)
            let order = DeliveryOrder(to: crm, orderKey: key)
            try await queue.append([RoutedEvent(event: Event(body), routes: [], deliveries: [order])])
        }
    }

    /// The numbers of the events of four claims.
    private func claims(in directory: String, isOrdered: Bool) async throws -> [[UInt8]] {
        let queue = try SQLiteQueue(in: directory)
        queue.openLane(crm, isOrdered: isOrdered) {}
        var claims: [[UInt8]] = []
        for _ in 1...4 {
            claims.append(try await queue.claim(from: crm, upTo: 1000).compactMap(\.body.first))
        }
        return claims
    }
}
