import NIOCore
import NIOHTTP2
import Testing

@testable import SignalboxServer

/// The frames of a connection without requests.
struct IdleFrameTests {
    private static let preface = IdleFrame(ByteBuffer(bytes: ProtocolSniffer.preface), isFirst: true)

    private static func frame(_ bytes: [UInt8]) -> IdleFrame? { IdleFrame(ByteBuffer(bytes: bytes), isFirst: false) }

    /// The state after the preface and empty SETTINGS.
    private static func begun() throws -> IdleFrameState {
        var state = IdleFrameState()
        #expect(state.receive(try #require(preface)) != nil)
        #expect(state.receive(.settings([]))?.answer == .acknowledgement)
        return state
    }

    @Test func readsWhatItWrites() {
        for frame in [
            IdleFrame.acknowledgement, .settings([ConnectionSetting(id: 3, value: 1000)]), .windowUpdate(70_000),
            .ping(0x0102_0304_0506_0708, isAcknowledgement: false), .ping(1, isAcknowledgement: true),
        ] {
            #expect(Self.frame(frame.bytes + [9]) == frame)
            #expect(Self.frame(frame.bytes.dropLast()) == nil)
        }
        #expect(IdleFrame.windowUpdate(70_000).number == 70_000)
    }

    @Test func leavesOtherFramesToTheLibrary() {
        // HEADERS, PING of a stream, SETTINGS of five bytes, and one that is too long; the payload is not awaited.
        for head: [UInt8] in [
            [0, 0, 1, 1, 4, 0, 0, 0, 1], [0, 0, 8, 6, 0, 0, 0, 0, 1], [0, 0, 5, 4, 0, 0, 0, 0, 0],
            [0, 0, 66, 4, 0, 0, 0, 0, 0],
        ] {
            #expect(Self.frame(head)?.isOther == true)
        }
        #expect(IdleFrame(ByteBuffer(string: "GET /"), isFirst: true)?.isOther == true)
    }

    @Test func leavesSettingsThatAreNotPermittedToTheLibrary() {
        for (id, value) in [(2, 2), (4, 0x8000_0000), (5, 16_383), (5, 16_777_216)] as [(UInt16, Int)] {
            #expect(!IdleFrame.settings([ConnectionSetting(id: id, value: value)]).hasPermittedSettings)
        }
        #expect(IdleFrame.settings([ConnectionSetting(id: 99, value: 0xFFFF_FFFF)]).hasPermittedSettings)
    }

    @Test func recordsWhatTheLibraryMustKnow() throws {
        var state = try Self.begun()
        #expect(state.receive(.windowUpdate(10)) != nil)
        #expect(state.receive(.acknowledgement) != nil)
        #expect(state.receive(.ping(7, isAcknowledgement: false))?.answer == .ping(7, isAcknowledgement: true))
        let expected =
            ProtocolSniffer.preface + IdleFrame.settings([]).bytes + IdleFrame.windowUpdate(10).bytes
            + IdleFrame.acknowledgement.bytes
        #expect(state.history == expected)
    }

    @Test func leavesErrorsToTheLibrary() throws {
        var early = IdleFrameState()
        #expect(early.receive(try #require(Self.preface)) != nil)
        #expect(early.receive(.windowUpdate(1)) == nil)
        var state = try Self.begun()
        #expect(state.receive(.windowUpdate(0)) == nil)
        #expect(state.receive(.windowUpdate(0x7FFF_FFFF)) == nil)
        #expect(state.receive(.acknowledgement) != nil)
        #expect(state.receive(.acknowledgement) == nil)
    }

    @Test func boundsWhatItRecords() throws {
        var state = try Self.begun()
        var count = 0
        while count < 1000, state.receive(.windowUpdate(1)) != nil { count += 1 }
        #expect((5...20).contains(count))
    }
}
