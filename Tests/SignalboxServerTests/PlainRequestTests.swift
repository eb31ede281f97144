import Foundation
import HTTPTypes
import NIOCore
import NIOEmbedded
import SignalboxTesting
import Synchronization
import Testing

@testable import SignalboxServer

/// Requests that are read without the parser, against the same ones read by the parser.
@Suite struct PlainRequestTests {
    private static let seed = UInt64.random(in: 0...UInt64.max)

    // MARK: Heads that are read

    @Test(arguments: [
        "host: a", "Host: a:1", "HOST: [::1]:80", "host: a\r\naccept: */*", "host:a", "host: a\r\nx_y: 1, 2 ; 3",
        "host: a\r\nconnection: Keep-Alive", "host: a\r\nauthorization: Bearer x\r\ntraceparent: 00-1-2-01",
    ])
    func readsCommonRequests(fields: String) throws {
        let request = try #require(PlainRequest(ByteBuffer(string: Self.text(fields, body: "{\"a\":1}"))))
        #expect(request.head.target == "/v1/notifications")
        #expect(String(buffer: request.body) == "{\"a\":1}")
    }

    @Test(arguments: [
        "", "host: a\r\nhost: a", "host: a/b", "host: \t", "host:", "host: a ", "host:  a", "host: a\r\n b",
        "host : a", "host: a\r\ntransfer-encoding: chunked", "host: a\r\nconnection: close", "host: a\u{e4}",
        "host: a\r\nproxy-connection: close",
        "host: a\r\nexpect: 100-continue", "host: a\r\nupgrade: h2c", "host: a\r\nidempotency-key: 1",
        "host: a\r\ncontent-encoding: gzip", "host: a\r\ncontent-length: 7", "host: a\nx: y", "host: a\r\nx: y\tz",
        "host: a\r\nauthorization: a\r\nauthorization: b", "host: a\r\n: b",
        "host: a\r\nsec-fetch-site: none\r\nsec-fetch-site: none", "host: a\r\nb", "host: a\r\nx: \u{0}",
    ])
    func leavesOtherFieldsToTheParser(fields: String) {
        #expect(PlainRequest(ByteBuffer(string: Self.text(fields, body: "{\"a\":1}"))) == nil)
    }

    @Test(arguments: [
        "POST /a?b HTTP/1.1", "POST http://a/b HTTP/1.1", "POST /a HTTP/1.0", "POST /%61 HTTP/1.1", "POST * HTTP/1.1",
        "GET /a HTTP/1.1", "POST  /a HTTP/1.1", "POST /a  HTTP/1.1", "post /a HTTP/1.1", "POST /a HTTP/1.1 ",
        "POST /a\tHTTP/1.1", "\r\nPOST /a HTTP/1.1", "POST a HTTP/1.1", "POST /a#b HTTP/1.1",
    ])
    func leavesOtherRequestLinesToTheParser(line: String) {
        #expect(PlainRequest(ByteBuffer(string: Self.text("host: a", body: "x", line: line))) == nil)
    }

    @Test(arguments: [
        "+1", "-1", "1 ", "0x1", "2", "0", "01a", "9223372036854775807", "9223372036854775800", "9223372036854775808",
        "18446744073709551615", "18446744073709551616", "99999999999999999999", "",
    ])
    func leavesOtherLengthsToTheParser(length: String) {
        let text = "POST /a HTTP/1.1\r\nhost: a\r\ncontent-length: \(length)\r\n\r\nx"
        #expect(PlainRequest(ByteBuffer(string: text)) == nil)
    }

    @Test func leavesPartsOfARequestAndSeveralToTheParser() {
        let text = Self.text("host: a", body: "{\"a\":1}")
        for length in 0..<text.utf8.count {
            #expect(PlainRequest(ByteBuffer(bytes: text.utf8.prefix(length))) == nil)
        }
        #expect(PlainRequest(ByteBuffer(string: text + "x")) == nil)
        #expect(PlainRequest(ByteBuffer(string: text + text)) == nil)
    }

    // MARK: The same as the parser

    /// The second connection receives the first byte alone, so its parser reads everything.
    @Test func aConnectionBehavesAsWithTheParser() throws {
        var random = SeededGenerator(seed: Self.seed)
        var direct = 0
        for round in 0..<4000 {
            var bytes = Array(Self.anyRequest(using: &random).utf8)
            if round % 4 > 0 { Self.mutate(&bytes, using: &random) }
            let text = String(reflecting: String(decoding: bytes, as: UTF8.self))
            let (whole, split) = (Exchange(), Exchange())
            try whole.run([bytes])
            try split.run([Array(bytes.prefix(1)), Array(bytes.dropFirst())])
            #expect(whole.record == split.record, "seed \(Self.seed), \(text)")
            if PlainRequest(ByteBuffer(bytes: bytes)) != nil { direct += 1 }
        }
        #expect(direct > 500, "seed \(Self.seed)")
    }

    /// The end of a head could look like a request of its own.
    @Test(arguments: ["GET /a HTTP/1.1\r\nx: ", "P", "POST /a HTTP/1.1\r\nhost: a\r\ncontent-length: 500\r\n\r\n"])
    func onlyTheParserContinuesWhatItBegan(beginning: String) throws {
        let exchange = Exchange()
        try exchange.run([
            Array(beginning.utf8), Array(Self.text("host: a", body: "x", line: "POST /direct HTTP/1.1").utf8),
        ])
        #expect(!exchange.record.contains { $0.hasPrefix("direct") })
    }

    @Test func aRequestAfterADirectOneMayBeOfAnyForm() throws {
        let exchange = Exchange()
        let direct = Array(Self.text("host: a", body: "x", line: "POST /direct HTTP/1.1").utf8)
        try exchange.run([direct, direct, Array("GET /a HTTP/1.1\r\nhost: a\r\n\r\n".utf8), direct])
        #expect(exchange.record.count { $0.hasPrefix("direct") } == 3)
        #expect(exchange.record.contains("GET /a"))
    }

    // MARK: Inputs

    private static func text(
        _ fields: String, body: String, line: String = "POST /v1/notifications HTTP/1.1"
    ) -> String {
        "\(line)\r\n\(fields)\r\ncontent-length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private static func anyRequest(using random: inout SeededGenerator) -> String {
        let lines = ["POST /direct HTTP/1.1", "POST /direct/refused HTTP/1.1", "POST /other HTTP/1.1"]
        let fields = [
            "accept: */*", "content-type: application/json", "authorization: Bearer secret", "origin: http://a",
            "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "tracestate: a=1",
            "user-agent: x/1", "connection: keep-alive", "x-forwarded-for: 1.2.3.4", "connection: close",
            "idempotency-key: 1", "expect: 100-continue", "host: b", "content-length: 1", "sec-fetch-site: cross-site",
            "proxy-connection: close",
        ]
        let count = Int.random(in: 0...3, using: &random)
        // The first ones are those of common clients.
        let chosen = (0..<count).compactMap { _ in
            Bool.random(using: &random)
                ? fields.prefix(9).randomElement(using: &random) : fields.randomElement(using: &random)
        }
        let body = ["{}", "{\"aps\":{}}", "", "refused"].randomElement(using: &random) ?? ""
        let line = lines.randomElement(using: &random) ?? ""
        let request = text(
            (["Host: a"] + chosen).shuffled(using: &random).joined(separator: "\r\n"), body: body, line: line)
        guard Int.random(in: 0..<20, using: &random) == 0 else { return request }
        let length = UInt64(Int.max) - 300 + UInt64.random(in: 0..<400, using: &random)
        return request.replacing("content-length: \(body.utf8.count)", with: "content-length: \(length)")
    }

    /// Changes one to three bytes, or a line.
    private static func mutate(_ bytes: inout [UInt8], using random: inout SeededGenerator) {
        let special = Array("\r\n \t:,+-09aAzZ/?%#\"\\;".utf8) + [0, 1, 0x7F, 0x80, 0xFF]
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let position = Int.random(in: 0..<bytes.count, using: &random)
            let byte = special.randomElement(using: &random) ?? 0
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes[position] = byte
            case 1: bytes.insert(byte, at: position)
            case 2: if bytes.count > 2 { bytes.remove(at: position) }
            case 3: bytes.insert(contentsOf: bytes.suffix(from: position).prefix(20), at: position)
            default: bytes[position] ^= 0x20
            }
        }
    }
}

/// A connection that receives pieces, whose direct requests are answered at once, and a request after them.
private final class Exchange {
    // A class because the responder and the test share it.
    private(set) var record: [String] = []
    private let calls = Calls()

    private final class Calls: Sendable {
        let waiting = Mutex<[(text: String, done: @Sendable (Reply) -> Void)]>([])
    }

    func run(_ pieces: [[UInt8]]) throws {
        let calls = calls
        let responder = DirectResponder { head in
            guard head.target.hasPrefix("/direct") else { return nil }
            let credentials = head.credentials
            let values = [
                head.target, "\(head.bodyLength)", credentials.authority, credentials.origin, credentials.authorization,
                "\(credentials.isForwarded)", credentials.site, head.traceparent, head.tracestate,
            ].map { $0 ?? "-" }
            return { body, _, done in
                guard !head.target.hasSuffix("refused"), String(buffer: body) != "refused" else { return false }
                let text = "direct " + values.joined(separator: "|") + "|" + String(buffer: body)
                calls.waiting.withLock { $0.append((text, done)) }
                return true
            }
        }
        let connection = try GuardedConnection(responder: responder)
        for piece in pieces + [Array("GET /next HTTP/1.1\r\nhost: a\r\n\r\n".utf8)] {
            connection.receive(piece)
            while let call = calls.waiting.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
                record.append(call.text)
                call.done(Reply(status: .accepted, body: Array("{}".utf8)))
            }
            while connection.seen.count(where: { $0 == "end" }) > connection.answered { connection.respond() }
        }
        record += connection.seen
        record.append(try connection.sent().replacing(#/Date: .*? GMT/#, with: "Date"))
        record.append("\(connection.channel.isActive)")
    }
}
