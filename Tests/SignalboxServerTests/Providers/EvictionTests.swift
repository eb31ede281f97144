import NIOCore
import NIOEmbedded
import Testing

@testable import SignalboxServer

/// Connections that close because there are too many, with handlers in memory.
@Suite struct EvictionTests {
    private static func serving(_ table: ConnectionTable, most: Int) -> ProviderServing {
        ProviderServing(
            endpoints: { ProviderEndpoints(all: []) }, budget: BodyBudget(bytes: 1 << 20), limits: ProviderLimits(),
            table: table, mostConnections: most)
    }

    /// A connection that has sent the preface of HTTP/2 and its settings.
    private static func connect(_ serving: ProviderServing) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(handler: ProtocolSniffer(serving, tls: nil))
        try channel.connect(to: SocketAddress(unixDomainSocketPath: "/x")).wait()
        let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]
        try channel.writeInbound(ByteBuffer(bytes: ProtocolSniffer.preface + settings))
        return channel
    }

    /// The client is not asked: it could keep the place of another one.
    @Test func anIdleConnectionClosesAtOnce() throws {
        let table = ConnectionTable(capacity: 2)
        let serving = Self.serving(table, most: 3)
        let (first, second) = (try Self.connect(serving), try Self.connect(serving))
        #expect(!first.isActive, "The share of a peer is one connection.")
        #expect(second.isActive)
        var sent: [UInt8] = []
        while let bytes = try first.readOutbound(as: ByteBuffer.self) { sent += bytes.readableBytesView }
        // GOAWAY for no error, with no stream.
        #expect(sent.suffix(17) == [0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
        first.embeddedEventLoop.run()
        #expect(table.count == 1)
        #expect(table.evicted == 1)
        _ = try second.finish(acceptAlreadyClosed: true)
    }

    @Test func countsAConnectionThatTakesTooLong() throws {
        let serving = Self.serving(ConnectionTable(capacity: 4), most: 5)
        let channel = EmbeddedChannel(handler: ProtocolSniffer(serving, tls: nil))
        try channel.connect(to: SocketAddress(unixDomainSocketPath: "/x")).wait()
        channel.embeddedEventLoop.advanceTime(by: serving.limits.handshake)
        #expect(!channel.isActive)
        #expect(serving.refusals[.timeout] == 1 && serving.refusals[.handshake] == 0)
        #expect(serving.table.evicted == 0)
    }

    /// The only connection of the share has a request in progress.
    @Test func countsARefusedConnection() throws {
        let table = ConnectionTable(capacity: 2)
        let serving = Self.serving(table, most: 3)
        let address = try SocketAddress(unixDomainSocketPath: "/x")
        let activity = ConnectionActivity(idleSince: .now())
        activity.markBusy()
        #expect(table.open(EmbeddedChannel(), by: PeerAddress(address), activity))
        let refused = EmbeddedChannel(handler: ProtocolSniffer(serving, tls: nil))
        try refused.connect(to: address).wait()
        #expect(!refused.isActive)
        #expect(serving.refusals[.peerShare] == 1 && serving.refusals[.capacity] == 0)
    }

    @Test func aConnectionThatChangesItsProtocolKeepsItsPlace() throws {
        let table = ConnectionTable(capacity: 4)
        let serving = Self.serving(table, most: 5)
        let idle = try Self.connect(serving)
        let channel = EmbeddedChannel(handler: ProtocolSniffer(serving, tls: nil))
        try channel.connect(to: SocketAddress(unixDomainSocketPath: "/x")).wait()
        try channel.writeInbound(ByteBuffer(string: "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\n\r\n"))
        #expect(idle.isActive && channel.isActive && table.count == 2)
        try channel.close().wait()
        channel.embeddedEventLoop.run()
        #expect(table.count == 1)
        _ = try idle.finish(acceptAlreadyClosed: true)
    }
}
