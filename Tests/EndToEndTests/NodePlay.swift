import Foundation
import SignalboxServer
import SignalboxServerTesting
import SignalboxStoreTesting
import SignalboxTesting
import Synchronization
import Testing

@testable import SignalboxPostgres

/// Gateways on one PostgreSQL database under load, while a scene lets things fail. Each has a proxy of its own in front
/// of the database. Afterwards every acknowledged event has arrived, in order, and the ledger is consistent.
final class NodePlay: Sendable {
    let database: PostgresServer
    let seed: UInt64
    let record: NodeRecord
    private let directory: String
    private let receiver: String
    private let members = Mutex<[Member]>([])
    private let isOver = Atomic<Bool>(false)

    /// A gateway of the play.
    struct Member: Sendable {
        let gateway: Gateway
        let proxy: CuttingProxy
        /// Receives load.
        var isUp = true
    }

    /// Runs a play with `count` gateways. `scene` runs under load. Prints the seed and a summary.
    static func run(
        nodes count: Int = 2, _ name: String = #function,
        _ scene: @escaping @Sendable (NodePlay, inout SeededGenerator) async throws -> Void
    ) async throws {
        let seed = UInt64.random(in: 0 ... .max)
        let database = try await PostgresServer.start()
        try await withTemporaryDirectory { directory in
            let record = NodeRecord()
            try await ReceivingServer.run(answer: { record.received($0) }) { receiver in
                let play = NodePlay(database, directory, receiver.url, seed: seed, record)
                for _ in 0..<count { try await play.startNode() }
                try await play.perform(scene)
                print("\(name): seed \(seed): \(record.summary)")
                try await play.check()
                for member in play.nodes where member.isUp { #expect(await member.gateway.stop() == 0, "seed \(seed)") }
            }
        }
    }

    private init(
        _ database: PostgresServer, _ directory: String, _ receiver: String, seed: UInt64, _ record: NodeRecord
    ) {
        (self.database, self.directory, self.receiver) = (database, directory, receiver)
        (self.seed, self.record) = (seed, record)
    }

    private func perform(
        _ scene: @escaping @Sendable (NodePlay, inout SeededGenerator) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for sender in 0..<4 { group.addTask { await self.send(as: sender) } }
            var random = SeededGenerator(seed: seed)
            let result: Result<Void, any Error>
            do { result = .success(try await scene(self, &random)) } catch { result = .failure(error) }
            isOver.store(true, ordering: .releasing)
            try await group.waitForAll()
            try result.get()
        }
    }

    // MARK: Nodes

    var nodes: [Member] { members.withLock { $0 } }

    /// Starts a gateway with a directory and a proxy of its own.
    func startNode() async throws {
        let number = nodes.count
        let place = "\(directory)/\(number)"
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        let proxy = try CuttingProxy(to: database.port)
        let config = """
            { "gateway": { "name": "node-\(number)" }, "egress": { "allow": ["127.0.0.0/8"] },
              "destinations": { "crm": { "url": "\(receiver)", "secret": "env:WEBHOOK_SECRET", "timeout": "120s",
                "ordering": {"fifo": "/data/target/token"},
                "retry": { "attempts": 100, "base": "1ms", "max": "20ms" } } },
              "routes": [ { "name": "everything", "match": {}, "to": ["crm"] } ] }
            """
        let gateway = try await Gateway.start(
            in: place, config: config, arguments: ["--store", PostgresServer.url(port: proxy.port)])
        members.withLock { $0.append(Member(gateway: gateway, proxy: proxy)) }
    }

    /// Sends no load to a gateway any longer; returns it.
    func retire(_ place: Int) -> Member {
        members.withLock { members in
            members[place].isUp = false
            return members[place]
        }
    }

    /// Sends load to a gateway again.
    func bringBack(_ place: Int) { members.withLock { $0[place].isUp = true } }

    // MARK: Load

    /// Posts events of its own keys, one after another, to any gateway.
    private func send(as sender: Int) async {
        var random = SeededGenerator(seed: seed &+ UInt64(sender) &+ 1)
        var number = 0
        while !isOver.load(ordering: .acquiring) {
            guard let member = nodes.filter(\.isUp).randomElement(using: &random) else {
                await Task.yield()
                continue
            }
            number += 1
            let key = "key-\(sender)-\(Int.random(in: 0..<3, using: &random))"
            let payload = #"{"message":{"token":"\#(key)","notification":{"title":"\#(key) number \#(number) end"}}}"#
            do {
                let (status, receipt) = try await member.gateway.post(Data(payload.utf8))
                record.answered(status, receipt["id"] as? String, key, number)
            } catch { record.unanswered(key, number) }
        }
    }

    /// Waits until `count` more events were acknowledged.
    func accept(_ count: Int) async throws {
        let aim = record.accepted + count
        try await wait("\(count) acknowledged events") { self.record.accepted >= aim }
    }

    /// Polls a condition. Throws if it does not come true within three minutes.
    func wait(_ awaited: String, until isMet: () throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(180)
        while try !isMet() {
            try #require(ContinuousClock.now < end, "\(awaited) did not come, seed \(seed): \(record.summary)")
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    // MARK: Rules

    /// Runs a query that returns one number.
    func number(_ sql: String) throws -> Int {
        Int(try PostgresConnection(PostgresTarget(url: database.url)).run(sql).first?.number(0) ?? -1)
    }

    private func check() async throws {
        try await wait("the end of all deliveries") {
            try record.missing.isEmpty && number("SELECT count(*) FROM queue") == 0
        }
        #expect(record.faults.isEmpty, "seed \(seed)")
        let audit = try await binary.run(["audit", "--store", database.url], in: directory)
        #expect(audit.status == 0, "seed \(seed): \(audit.output) \(audit.errors)")
        #expect(
            try number("SELECT count(*) FROM ended") == number("SELECT sum(accepted)::bigint FROM ledger"),
            "accepted are ended, seed \(seed)")
        #expect(try number("SELECT count(*) FROM ended WHERE state <> 'delivered'") == 0, "seed \(seed)")
    }
}

/// The observations of the senders and the receiver. A class because the play's tasks and the receiver share it.
final class NodeRecord: Sendable {
    private struct State {
        var accepted: Set<String> = []
        var arrivals: [String: Int] = [:]
        var refused = 0
        /// Posts without an answer: key and number.
        var unanswered: Set<String> = []
        /// The numbers of each key, as they arrived.
        var lines: [String: [Int]] = [:]
        var faults: [String] = []
        /// How many gateways were stopped and continued.
        var continued = 0
    }

    private let state = Mutex(State())

    /// A gateway that was stopped continues. A request that it had begun may still arrive then, after the gateway that
    /// took the delivery over has sent it and later ones: one for each key, because a key has one attempt at a time.
    func gatewayContinues() { state.withLock { $0.continued += 1 } }

    func answered(_ status: Int, _ id: String?, _ key: String, _ number: Int) {
        state.withLock { state in
            switch (status, id) {
            case (202, let id?): state.accepted.insert(id)
            case (503, _):
                state.refused += 1
                // The gateway may not know the outcome of a commit.
                state.unanswered.insert("\(key) \(number)")
            default: state.faults.append("a post was answered with \(status)")
            }
        }
    }

    func unanswered(_ key: String, _ number: Int) {
        state.withLock { _ = $0.unanswered.insert("\(key) \(number)") }
    }

    /// Records an event that arrived; returns the status to answer with.
    func received(_ message: WebhookReceiver.Message) -> Int {
        let text = String(decoding: message.body, as: UTF8.self)
        let key = text.firstMatch(of: /(key-\d-\d) number/).map { String($0.1) } ?? ""
        let number = text.firstMatch(of: /number (\d+) end/).flatMap { Int($0.1) } ?? -1
        state.withLock { state in
            state.arrivals[message.id ?? "none", default: 0] += 1
            if !state.unanswered.contains("\(key) \(number)") { state.lines[key, default: []].append(number) }
        }
        return 204
    }

    var accepted: Int { state.withLock { $0.accepted.count } }
    var refused: Int { state.withLock { $0.refused } }
    var missing: Set<String> { state.withLock { $0.accepted.subtracting($0.arrivals.keys) } }

    /// Broken rules. An event arrives after those before it of its key; an interrupted attempt is repeated before the
    /// next one, except for those that ``gatewayContinues()`` describes.
    var faults: [String] {
        state.withLock { state in
            state.faults
                + state.lines.compactMap { key, numbers in
                    let answered = numbers.filter { !state.unanswered.contains("\(key) \($0)") }
                    return Self.late(in: answered).map { $0.count <= state.continued } == true
                        ? nil : "\(key) arrived as \(answered)"
                }
        }
    }

    /// The numbers that arrived again after a later one; nil if a first arrival was late.
    private static func late(in numbers: [Int]) -> [Int]? {
        var (seen, last, late): (Set<Int>, Int, [Int]) = ([], 0, [])
        for number in numbers {
            let isNew = seen.insert(number).inserted
            if number < last {
                if isNew { return nil }
                late.append(number)
            }
            last = max(last, number)
        }
        return late
    }

    var summary: String {
        state.withLock { state in
            let repeats = state.arrivals.values.reduce(0) { $0 + $1 - 1 }
            return "\(state.accepted.count) acknowledged, \(state.refused) refused, \(repeats) arrived again"
        }
    }
}
