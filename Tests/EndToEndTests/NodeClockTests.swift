import Foundation
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// Gateways on one database whose wall clocks differ by ten minutes. The clock of the database counts.
@Suite(
    .serialized, .timeLimit(.minutes(10)), .enabled(if: ClockLibrary.isAvailable, "no C compiler"))
struct NodeClockTests {
    private static let isLong = ProcessInfo.processInfo.environment["SIGNALBOX_NODES_LONG"] != nil

    /// The clock of the first gateway is ahead, that of the second one behind.
    private static let stage = NodeStage(environment: { number, directory in
        try ClockLibrary.environment(aheadBy: number == 0 ? 300 : -300, in: directory)
    })

    @Test(.enabled(if: isLong, "waits for the lifetime of a node"))
    func aWrongClockEndsNoLeaseAndExpiresNoEvent() async throws {
        try await NodePlay.run(Self.stage) { play, _ in
            for node in play.nodes {
                let payload = Self.payload(until: Date(timeIntervalSinceNow: 120))
                try #require(await play.post(payload, to: node, "expiring", 0) != nil)
            }
            let nodes = "SELECT count(*) FROM nodes"
            let begun = try play.number(nodes)
            let isOlder = "started_at < extract(epoch FROM clock_timestamp() - interval '17 s') * 1000"
            try await play.wait("the lifetime of a node without heartbeats") {
                try play.number("\(nodes) WHERE is_live AND \(isOlder)") == 2
            }
            #expect(try play.number(nodes) == begun, "no node began anew, seed \(play.seed)")
        }
    }

    @Test func signsAndDeliversByTheClockOfTheDatabase() async throws {
        try await NodePlay.run(Self.stage) { play, _ in
            try await play.accept(50)
            #expect(play.record.timestampError < 60, "time of signatures, seed \(play.seed)")
            let due = ContinuousClock.now + .seconds(3)
            let start = Date(timeIntervalSinceNow: 3)
            var events: [String] = []
            for node in play.nodes {
                let payload = Self.payload(from: start, until: start + 120)
                events.append(try #require(await play.post(payload, to: node, "scheduled", 0)))
            }
            for (node, event) in events.enumerated() {
                for destination in [NodePlay.ordered, "plain"] {
                    let delivery = "\(event) \(destination)"
                    try await eventually("the event of gateway \(node)") { play.record.firstAttempt(delivery) != nil }
                    let first = try #require(play.record.firstAttempt(delivery))
                    #expect(first > due - .milliseconds(100), "gateway \(node), seed \(play.seed)")
                }
            }
        }
    }

    /// A message with a schedule.
    private static func payload(from start: Date? = nil, until end: Date) -> Data {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        let embargo = start.map { #""embargoDate":"\#($0.formatted(style))","# } ?? ""
        return Data(
            """
            {"data":{"handler":"com.sourse.notification","title":"T",\(embargo)"expiryDate":"\(end.formatted(style))"}}
            """.utf8)
    }
}
