import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import SignalboxServer

/// The fields that a tap adds to the frames of the library.
@Suite struct FrameTapTests {
    private static let fields = [ProviderReply.Header(name: "apns-id", value: "A1")]
    private static let block = FieldBlock(fields).bytes

    /// A frame (RFC 9113, 4.1). Kind 1 is HEADERS; the payload is `:status` 200 by its number in the static table.
    private static func frame(_ kind: UInt8 = 1, stream: UInt8, _ payload: [UInt8] = [0x88]) -> [UInt8] {
        [0, 0, UInt8(payload.count), kind, 5, 0, 0, 0, stream] + payload
    }

    /// The bytes that the tap sends when the library writes these.
    private static func sent(_ writes: [[UInt8]], _ prepare: (FrameTap) -> Void) throws -> [UInt8] {
        let tap = FrameTap(preface: 0)
        let channel = EmbeddedChannel(handler: tap)
        defer { _ = try? channel.finish() }
        prepare(tap)
        for bytes in writes { channel.write(ByteBuffer(bytes: bytes), promise: nil) }
        channel.flush()
        var sent: [UInt8] = []
        while let piece = try channel.readOutbound(as: ByteBuffer.self) { sent += piece.readableBytesView }
        return sent
    }

    @Test func appendsTheFieldsToTheResponseOfTheirStream() throws {
        let others = [Self.frame(stream: 3), Self.frame(0, stream: 5, Array("{}".utf8)), Self.frame(8, stream: 5)]
        let sent = try Self.sent(others + [Self.frame(stream: 5), Self.frame(stream: 5)]) { $0.add(Self.fields, to: 5) }
        let extended = Self.frame(stream: 5, [0x88] + Self.block)
        #expect(sent == others.flatMap(\.self) + extended + Self.frame(stream: 5))
    }

    /// The library writes the payload of a DATA frame by itself.
    @Test func leavesPayloadsThatLookLikeAFrameHead() throws {
        let payload: [UInt8] = [0, 0, 200, 1, 5, 0, 0, 0, 5]
        #expect(try Self.sent([payload]) { $0.add(Self.fields, to: 5) } == payload)
    }

    /// A promise of the frame that gets fields is kept.
    @Test func aWriteWithFieldsKeepsItsPromise() throws {
        let tap = FrameTap(preface: 0)
        let channel = EmbeddedChannel(handler: tap)
        defer { _ = try? channel.finish() }
        tap.add(Self.fields, to: 5)
        let isWritten = Mutex(false)
        let promise = channel.eventLoop.makePromise(of: Void.self)
        promise.futureResult.whenSuccess { isWritten.withLock { $0 = true } }
        channel.write(ByteBuffer(bytes: Self.frame(stream: 5)), promise: promise)
        channel.flush()
        let wasWritten = isWritten.withLock { $0 }
        #expect(wasWritten)
        let sent = try channel.readOutbound(as: ByteBuffer.self).map { Array($0.readableBytesView) }
        #expect(sent == Self.frame(stream: 5, [0x88] + Self.block))
    }

    @Test func forgetsTheFieldsOfAStreamThatIsOver() throws {
        let sent = try Self.sent([Self.frame(stream: 5)]) { tap in
            tap.add(Self.fields, to: 5)
            tap.drop(5)
        }
        #expect(sent == Self.frame(stream: 5))
    }
}
