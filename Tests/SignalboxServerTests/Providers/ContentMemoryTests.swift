import NIOCore
import SignalboxNotification
import Testing

@testable import SignalboxServer

@Suite struct ContentMemoryTests {
    private static func holder(_ source: String, at peer: Int = 1) throws -> BodyHolder {
        BodyHolder(
            source: SourceName(source), peer: PeerAddress(try SocketAddress(ipAddress: "192.0.2.\(peer)", port: 1)))
    }

    @Test func aGreedySourceLeavesMemoryForOthers() throws {
        let memory = ContentMemory(bytes: 1_000)
        var held: [ContentMemory.Reservation] = []
        while let content = memory.reserve(100, for: try Self.holder("greedy")) { held.append(content) }
        #expect(held.count == 5)
        #expect(memory.reserve(100, for: try Self.holder("other", at: 2)) != nil)
        held = []
        #expect(memory.reserve(1_000) != nil)
    }

    /// A request without copies needs none.
    @Test func grantsZeroBytesWithoutFreeMemory() throws {
        let memory = ContentMemory(bytes: 1_000)
        let holder = try Self.holder("a")
        let own = memory.reserve(500, for: holder)
        let others = memory.reserve(500)
        #expect(own != nil && others != nil)
        #expect(memory.reserve(0, for: holder) != nil)
        #expect(memory.reserve(1, for: holder) == nil)
        withExtendedLifetime((own, others)) {}
    }

    @Test func aContentKeepsTheMemoryOfItsBytes() throws {
        let memory = ContentMemory(bytes: 1_000)
        let holder = try Self.holder("a")
        let content = try #require(memory.reserve(500, for: holder))
        #expect(memory.reserve(100, for: holder) == nil)
        content.shrink(to: 100)
        #expect(memory.reserve(400, for: holder) != nil)
        withExtendedLifetime(content) {}
    }
}
