import SignalboxTesting
import Testing

@testable import SignalboxGateway

/// Examples and rules of W3C Trace Context, 3.2.
@Suite struct TraceContextTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let span = "00f067aa0ba902b7"

    @Test func readsAndWritesAHeader() throws {
        let context = try #require(TraceContext("00-\(Self.trace)-\(Self.span)-01"))
        #expect(context.traceID.description == Self.trace && context.spanID.description == Self.span)
        #expect(context.isSampled && context.header == "00-\(Self.trace)-\(Self.span)-01")
    }

    @Test(arguments: [("00", "00"), ("02", "02"), ("03", "03"), ("ff", "03"), ("08", "00"), ("09", "01")])
    func keepsTheFlagsThatAreDefined(_ flags: String, _ written: String) throws {
        let context = try #require(TraceContext("00-\(Self.trace)-\(Self.span)-\(flags)"))
        #expect(context.header.hasSuffix("-" + written))
    }

    @Test(arguments: ["cc-T-S-01", "01-T-S-01-what-the-future-brings", "fe-T-S-01-", "01-T-S-01"])
    func readsALaterVersionAsVersion00(_ pattern: String) throws {
        let context = try #require(TraceContext(Self.filled(pattern)))
        #expect(context.header == "00-\(Self.trace)-\(Self.span)-01")
    }

    private static func filled(_ pattern: String) -> String {
        pattern.replacing("T", with: trace).replacing("S", with: span)
    }

    @Test(arguments: [
        "", "00", "00-T-S", "00-T-S-", "00-T-S-1", "00-T-S-01-", "00-T-S-01-x", "00-T-S-011", "ff-T-S-01",
        "0-T-S-01", "0x-T-S-01", "00-T-S-0x", "00-T-S-0G", "00_T-S-01", "00-T_S-01", "00-T-S_01", "01-T-S-01x",
        "00-00000000000000000000000000000000-S-01", "00-T-0000000000000000-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-S-01",
        "00-T-00F067AA0BA902B7-01", "00-T-S-0A", " 00-T-S-01", "00-T-S-01 ", "00-T-S-01,00-T-S-01", "00-TS-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473-S0-01", "00-4bf92f3577b34da6a3ce929d0e0e473é-S-01",
    ])
    func rejectsAnInvalidHeader(_ pattern: String) {
        #expect(TraceContext(Self.filled(pattern)) == nil)
    }

    /// Every header that is accepted is written in version 00 and reads back as the same value.
    @Test func roundTripsRandomHeaders() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        var accepted = 0
        for _ in 0..<5000 {
            var bytes = Array("00-\(Self.trace)-\(Self.span)-01".utf8)
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                let change = Int.random(in: 0...2, using: &random)
                let position = Int.random(in: 0..<max(1, bytes.count), using: &random)
                if change == 0, !bytes.isEmpty { bytes.remove(at: position) }
                if change == 1 { bytes.insert(.random(in: 0x20...0x7E, using: &random), at: position) }
                if change == 2, !bytes.isEmpty {
                    bytes[position] = try #require("0123456789abcdefAF-".utf8.randomElement(using: &random))
                }
            }
            let text = String(decoding: bytes, as: UTF8.self)
            guard let context = TraceContext(text) else { continue }
            accepted += 1
            #expect(context.header.utf8.count == TraceContext.length, "seed \(seed): \(text)")
            #expect(TraceContext(context.header) == context, "seed \(seed): \(text)")
            #expect(text.dropFirst(2).hasPrefix(context.header.dropFirst(2).prefix(51)), "seed \(seed): \(text)")
        }
        #expect(accepted > 500, "seed \(seed)")
    }

    @Test func newSpansStayInTheirTrace() throws {
        let root = TraceContext.root()
        let child = root.child()
        #expect(root.isSampled && child.isSampled && child.traceID == root.traceID && child.spanID != root.spanID)
        #expect(TraceContext(root.header) == root && TraceContext(child.header) == child)
    }
}

/// Rules of W3C Trace Context, 3.3.
@Suite struct TraceStateTests {
    @Test(arguments: [
        ("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"),
        ("a=1, b=2 ,\tc=3", "a=1,b=2,c=3"), ("a=1,,b=2,", "a=1,b=2"),
        ("fw529a3039@dt=FfD_~ !\"\\", #"fw529a3039@dt=FfD_~ !"\"#),
        ("0a_-*/@s*=x", "0a_-*/@s*=x"), ("signalbox=1,a=1", "a=1"), ("a=1,signalbox=2", "a=1"),
        ("signalbox2=1", "signalbox2=1"),
    ])
    func keepsValidMembers(_ header: String, _ kept: String) {
        #expect(TraceState(header)?.text == kept)
    }

    @Test(arguments: [
        "", ",", " ", "a", "a=", "=1", "A=1", "a b=1", "_a=1", "a=1=2", "a=ü", "a=1,a=2", "a@b@c=1", "a@=1", "@a=1",
        "a=1,b", "signalbox=1", "a=\u{7F}",
    ])
    func dropsAnInvalidOrEmptyList(_ header: String) { #expect(TraceState(header) == nil) }

    @Test func limitsTheNumberOfMembers() throws {
        func list(_ count: Int) -> String { (0..<count).map { "k\($0)=v" }.joined(separator: ",") }
        #expect(TraceState(list(33)) == nil)
        // One place is left for the gateway's own member.
        #expect(TraceState(list(32))?.text == list(31))
        #expect(TraceState(list(31))?.text == list(31))
    }

    @Test func dropsLongMembersFirst() throws {
        let long = "long=" + String(repeating: "x", count: 200)
        let short = (0..<7).map { "k\($0)=" + String(repeating: "v", count: 50) }
        let state = try #require(TraceState(([long] + short).joined(separator: ",")))
        #expect(state.text == short.joined(separator: ","))
        let many = (0..<20).map { "k\($0)=" + String(repeating: "v", count: 60) }
        #expect(try #require(TraceState(many.joined(separator: ","))).text == many[..<7].joined(separator: ","))
    }

    /// The gateway's member is the first, and the limits hold for every valid input.
    @Test func keepsTheLimitsForRandomLists() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        let span = SpanID.random()
        for _ in 0..<500 {
            let members = (0..<Int.random(in: 1...32, using: &random)).map { number in
                "k\(number)=" + String(repeating: "v", count: Int.random(in: 1...256, using: &random))
            }
            let state = try #require(TraceState(members.joined(separator: ",")), "seed \(seed)")
            let sent = TraceState.text(of: span, before: state.text)
            #expect(sent.utf8.count <= TraceState.longest, "seed \(seed)")
            #expect(sent.hasPrefix("signalbox=\(span),"), "seed \(seed)")
            let kept = state.text.split(separator: ",").map(String.init)
            #expect(kept.count < TraceState.most && kept == members.filter { kept.contains($0) }, "seed \(seed)")
            #expect(TraceState(sent) == state, "seed \(seed)")
        }
    }
}
