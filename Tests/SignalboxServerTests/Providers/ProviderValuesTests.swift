import NIOCore
import Testing

@testable import SignalboxServer

/// The decisions of connections that need no connection.
struct ProviderValuesTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

    // MARK: The meter of frames

    private func frame(_ type: UInt8, flags: UInt8 = 0, payload: Int = 0) -> ByteBuffer {
        var bytes = ByteBuffer(bytes: [0, UInt8(payload >> 8), UInt8(payload & 255), type, flags, 0, 0, 0, 1])
        bytes.writeRepeatingByte(0, count: payload)
        return bytes
    }

    /// Whether the meter accepts each piece, and whether it is incomplete after the last one.
    private func meter(
        _ pieces: [ByteBuffer], preface: Int = 0, at times: [NIODeadline]? = nil
    ) -> (accepted: [Bool], isIncomplete: Bool) {
        var meter = FrameMeter(preface: preface)
        let accepted = pieces.enumerated().map { meter.receive($1, at: times?[$0] ?? start) }
        return (accepted, meter.isIncomplete)
    }

    @Test func knowsAnIncompleteFrameWhereverItIsCut() {
        let preface = ByteBuffer(repeating: 0, count: 24)
        for cut in 1..<29 {
            var bytes = frame(1, flags: 4, payload: 20)
            let first = bytes.readSlice(length: cut) ?? ByteBuffer()
            #expect(meter([preface, first], preface: 24).isIncomplete)
            #expect(!meter([preface, first, bytes], preface: 24).isIncomplete)
        }
    }

    @Test func aHeaderBlockLastsUntilItsLastFrame() {
        let (begin, more, end) = (frame(1, payload: 3), frame(9, payload: 3), frame(9, flags: 4, payload: 3))
        #expect(meter([begin]).isIncomplete)
        #expect(meter([begin, more]).isIncomplete)
        #expect(!meter([begin, more, end]).isIncomplete)
    }

    /// A client that sends blocks of a fixed size is not slow, although each piece ends within a frame.
    @Test func noticesThatAnotherFrameBegan() {
        var bytes = ByteBuffer()
        for _ in 0..<4 {
            var frame = frame(1, flags: 4, payload: 20)
            bytes.writeBuffer(&frame)
        }
        let pieces = (0..<3).map { _ in bytes.readSlice(length: 30) ?? ByteBuffer() }
        #expect(states(pieces) == Array(repeating: [true, true], count: 3))
        var block = frame(1, payload: 4)
        let beginning = block.readSlice(length: 5) ?? ByteBuffer()
        #expect(states([beginning, block, frame(9, payload: 4)]) == [[true, true], [true, false], [true, false]])
    }

    /// After each piece, whether the meter is incomplete, and whether another frame began.
    private func states(_ pieces: [ByteBuffer]) -> [[Bool]] {
        var meter = FrameMeter(preface: 0)
        return pieces.map { piece in
            let isAccepted = meter.receive(piece, at: start)
            return isAccepted ? [meter.isIncomplete, meter.hasBegun] : []
        }
    }

    @Test func dataHasDeadlinesOfItsOwn() {
        var data = frame(0, payload: 100)
        let half = data.readSlice(length: 50) ?? ByteBuffer()
        #expect(!meter([half]).isIncomplete)
    }

    @Test(arguments: [(UInt8(8), 1000), (99, 1000), (3, 2000), (2, 200), (4, 200), (6, 200)])
    func limitsFramesWithoutRequests(type: UInt8, most: Int) {
        let frames = Array(repeating: frame(type, payload: 4), count: most + 1)
        #expect(meter(frames).accepted.firstIndex(of: false) == most)
    }

    @Test func requestsEarnWindowUpdates() {
        let request = [frame(1, flags: 4), frame(8, payload: 4), frame(8, payload: 4)]
        #expect(!meter(Array(repeating: request, count: 5000).flatMap { $0 }).accepted.contains(false))
    }

    @Test func responsesEarnResets() {
        var meter = FrameMeter(preface: 0)
        let reset = frame(3, payload: 4)
        let accepted = (0..<20_000).map { _ in
            meter.answeredWithoutBody()
            return meter.receive(reset, at: start)
        }
        #expect(!accepted.contains(false))
        #expect((0...2000).map { _ in meter.receive(reset, at: start) }.firstIndex(of: false) == 2000)
    }

    @Test func resetsAreForgottenAfterAPeriod() {
        let frames = Array(repeating: frame(3, payload: 4), count: 20_000)
        let times = frames.indices.map { start + .seconds(Int64($0 / 2000 * 31)) }
        #expect(!meter(frames, at: times).accepted.contains(false))
    }

    // MARK: The end of a connection

    private typealias Action = ConnectionFarewell.Action

    /// The actions of each step.
    private func farewell(_ steps: (inout ConnectionFarewell) -> [Action]...) -> [[Action]] {
        var farewell = ConnectionFarewell()
        return steps.map { $0(&farewell) }
    }

    @Test func announcesTheEndAndNamesTheLastRequestAfterThePing() {
        let actions = farewell(
            { $0.begin(at: start) }, { $0.begin(at: start) }, { $0.acknowledge(at: start, isIdle: false) },
            { $0.requestsEnded(false) }, { $0.requestsEnded(true) }, { $0.requestsEnded(true) })
        #expect(actions == [[.announce], [], [.goAway(debugData: nil)], [], [.close], []])
    }

    @Test func servesRequestsUntilTheLastOneIsNamed() {
        var farewell = ConnectionFarewell()
        _ = farewell.begin(at: start)
        let servesAfterAnnouncement = farewell.servesNew
        _ = farewell.acknowledge(at: start, isIdle: false)
        #expect(servesAfterAnnouncement)
        #expect(!farewell.servesNew)
    }

    @Test func namesTheLastRequestWithoutAPingAfterAWhile() {
        let limits = ProviderLimits()
        let later = start + limits.announcement
        let actions = farewell(
            { $0.begin(at: start) }, { $0.check(at: start, limits, isIdle: false) },
            { $0.check(at: later, limits, isIdle: false) }, { $0.check(at: later, limits, isIdle: false) },
            { $0.check(at: later + limits.grace, limits, isIdle: false) })
        #expect(actions == [[.announce], [], [.goAway(debugData: nil)], [], [.close]])
    }

    @Test func closesAnIdleConnectionAfterOneGoAway() {
        let actions = farewell(
            { $0.beginAtOnce(at: start, debugData: [1], isIdle: true) },
            { $0.beginAtOnce(at: start, debugData: nil, isIdle: true) })
        #expect(actions == [[.goAway(debugData: [1]), .close], []])
    }

    @Test func ignoresAnAcknowledgementWithoutAnEnd() {
        #expect(farewell({ $0.acknowledge(at: start, isIdle: true) }) == [[]])
    }

    // MARK: Windows

    @Test func extendsAWindowWhenHalfIsUsed() {
        let window = PeerWindow(target: 1000)
        #expect(window.increment(from: 501) == nil)
        #expect(window.increment(from: 500) == 500)
        #expect(window.increment(from: 0) == 1000)
    }

    @Test func runsOutOnlyForClientsThatNeverExtend() {
        let limits = ProviderLimits()
        var window = PeerWindow(outbound: limits.leastWindow)
        #expect(!window.isRunningOut(limits: limits))
        window.outbound -= 1
        #expect(window.isRunningOut(limits: limits))
        window.isExtended = true
        #expect(!window.isRunningOut(limits: limits))
    }

    // MARK: Requests

    @Test(arguments: [("/3/device/1?a=b?c", "/3/device/1", "a=b?c"), ("/x", "/x", nil), ("/x?", "/x", "")])
    func cutsTheTargetAtItsQuery(target: String, path: String, query: String?) {
        let request = ProviderRequest(method: "POST", target: target, headers: [], connection: .test())
        #expect(request.path == path)
        #expect(request.query == query)
    }

    @Test func answersAnUnknownPathWithTheIDOfTheRequest() {
        let request = ProviderRequest(
            method: "POST", target: "/else", headers: [(name: "apns-id", value: "a-1")], connection: .test())
        let fields = APNsReply.badPath(request).headers.filter { $0.name == "apns-id" }
        #expect(fields.map(\.value) == ["a-1"])
    }

    @Test func keepsTheFirstProofOfAConnection() {
        let connection = ProviderConnection.test()
        let first = ProviderConnection.Proof(team: "A", key: "1")
        #expect(connection.firstProof(or: first) == first)
        #expect(connection.firstProof(or: .init(team: "B", key: "2")) == first)
    }
}

extension ProviderConnection {
    static func test() -> ProviderConnection {
        ProviderConnection(peer: PeerAddress(nil), address: "127.0.0.1", isLoopback: true)
    }
}
