import SignalboxTesting
import Testing

@testable import SignalboxCommands

struct StreamReadingTests {
    private let stream = """
        : connected
        id: a-1

        id: a-2
        event: event
        data: {"time":"2026-11-20T21:29:00.123Z","subject":"mce/alert","title":"Wel\\u001bcome","routes":["all"],"id":"0193"}

        event: gap
        data: {"dropped":7}

        : ping

        event: two
        data: 1
        data: 2


        """

    private func frames(_ pieces: [[UInt8]]) throws -> ([ServerSentEvents.Frame], String?) {
        var (events, frames) = (ServerSentEvents(), [ServerSentEvents.Frame]())
        for piece in pieces { try events.read(piece) { frames.append($0) } }
        return (frames, events.lastID)
    }

    @Test func readsFramesWithTheirPositions() throws {
        let (frames, last) = try frames([Array(stream.utf8)])
        #expect(frames.map(\.name) == ["event", "gap", "two"])
        #expect(frames.map(\.id) == ["a-2", "a-2", "a-2"])
        #expect(frames.last?.data == "1\n2")
        #expect(last == "a-2")
    }

    @Test func piecesOfAnySizeGiveTheSameFrames() throws {
        let whole = try frames([Array(stream.utf8)]).0
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            var (rest, pieces) = (Array(stream.utf8)[...], [[UInt8]]())
            while !rest.isEmpty {
                let size = Int.random(in: 1...min(40, rest.count), using: &generator)
                pieces.append(Array(rest.prefix(size)))
                rest = rest.dropFirst(size)
            }
            #expect(try frames(pieces).0 == whole, "seed \(seed)")
        }
    }

    @Test func anEndlessLineEndsTheReading() {
        var events = ServerSentEvents()
        #expect(throws: ServerSentEvents.TooLong.self) {
            try events.read(Array(repeating: UInt8(ascii: "x"), count: ServerSentEvents.longest + 1)) { _ in }
        }
    }

    @Test func framesBecomeLinesWithoutControlCharacters() throws {
        let frames = try frames([Array(stream.utf8)]).0
        #expect(LiveLine.text(frames[0]) == "21:29:00.123  event        mce/alert  Wel come  -> all  0193")
        #expect(LiveLine.text(frames[1]) == "(7 not shown)")
        #expect(LiveLine.json(frames[1]) == #"{"frame":"gap","data":{"dropped":7}}"#)
        let damaged = try self.frames([Array("event: event\ndata: \u{1B}[2Jx\n\n".utf8)]).0
        #expect(LiveLine.text(damaged[0]) == " [2Jx")
    }

    @Test func deliveriesShowTheirOutcome() {
        let frame = ServerSentEvents.Frame(
            name: "delivery",
            data:
                #"{"event":"0193","destination":"crm","at":"2026-11-20T21:29:00.140Z","attempt":2,"outcome":"retry","status":503,"durationMs":12}"#
        )
        #expect(LiveLine.text(frame) == "21:29:00.140  delivery     crm  retry  503  12 ms  attempt 2  0193")
    }

    @Test func aVendorBecomesAPattern() throws {
        var request = LiveTail.Request()
        try request.select(vendor: "mce")
        #expect(request.pattern == #"{"data":{"vendor":["mce"]}}"#)
        #expect(request.query.contains("pattern=%7B%22data%22"))
        #expect(throws: CommandFailure.self) { try request.select(vendor: "braze") }
    }
}
