import Logging
import NIOCore
import SignalboxStore
import SignalboxTesting
import Synchronization
import Testing

@testable import SignalboxServer

@Suite(.timeLimit(.minutes(15))) struct FailedTokensTests {
    private final class Log: Sendable {
        private let recorded = Mutex<[String]>([])

        var lines: [String] { recorded.withLock { $0 } }

        func append(_ line: String) { recorded.withLock { $0.append(line) } }
    }

    private let log = Log()
    private let timer = ManualTimer()

    private func makeTokens() -> FailedTokens {
        let logger = Logger(label: "test") { [log] _ in LineLogHandler { log.append($0) } }
        return FailedTokens(logger: logger, delayed: DelayedCall { [timer] in timer.schedule(after: $0, $1) }) {
            [timer] in timer.now
        }
    }

    private static func peer(_ address: String) throws -> PeerAddress {
        PeerAddress(try SocketAddress(ipAddress: address, port: 1))
    }

    @Test func logsTheFirstFailureAndThenOnceAMinute() async throws {
        let tokens = makeTokens()
        for _ in 0..<5 { await tokens.record(at: .operator, from: try Self.peer("10.0.0.1"), address: "10.0.0.1") }
        #expect(log.lines.count == 1)
        timer.pass(.seconds(60))
        await tokens.record(at: .source, from: try Self.peer("10.0.0.2"), address: "10.0.0.2")
        #expect(log.lines.count == 2)
        #expect(log.lines.last?.contains("endpoint=source failures=5 remote=10.0.0.2") == true, "\(log.lines)")
        #expect(tokens.values == [.operator: 5, .source: 1])
    }

    @Test func delaysANetworkThatFailsOften() async throws {
        let tokens = makeTokens()
        let peer = try Self.peer("10.0.0.1")
        for _ in 0..<10 { await tokens.record(at: .operator, from: peer, address: "10.0.0.1") }
        #expect(timer.count == 0)
        async let late: Void = tokens.record(at: .operator, from: peer, address: "10.0.0.1")
        while timer.count == 0 { await Task.yield() }
        // Another network is answered at once.
        await tokens.record(at: .operator, from: try Self.peer("10.0.0.2"), address: "10.0.0.2")
        #expect(timer.count == 1)
        timer.pass(FailedNetworks.delay)
        await late
        timer.pass(.seconds(60))
        await tokens.record(at: .operator, from: peer, address: "10.0.0.1")
        #expect(timer.count == 0)
    }

    @Test func recordsABoundedNumberOfRefusals() {
        let budget = RefusalBudget { [timer] in timer.now }
        #expect((0..<100).count { _ in budget.take() } == RefusalBudget.most)
        timer.pass(.seconds(60))
        #expect(budget.take())
    }
}
