import Foundation
import SignalboxNotification
import SignalboxStore
import SignalboxStoreTesting
import SignalboxTesting
import Synchronization
import Testing

@testable import SignalboxPostgres

/// Nodes on one database under load, while a scene lets things fail. Afterwards every accepted event has arrived, in
/// order, and the ledger is consistent.
final class NodePlay: Sendable {
    let server: PostgresServer
    let schema = "play\(UInt64.random(in: 1 ... .max))"
    let seed: UInt64
    let record = PlayRecord()
    private let cast = Mutex<[PlayNode]>([])
    private let lastNode = Mutex(0)
    private let lastEvent = Mutex(0)
    private let isOver = Atomic<Bool>(false)

    private init(_ server: PostgresServer, seed: UInt64) { (self.server, self.seed) = (server, seed) }

    /// Not behind a proxy.
    var target: PostgresTarget { PostgresTarget(url: server.url, schema: schema) }
    var nodes: [PlayNode] { cast.withLock { $0 } }

    /// Runs a play: `scene` receives it once all nodes deliver. Prints the seed and a summary.
    static func run(
        nodes count: Int = 2, disk: PostgresServer.Disk = .durable, _ name: String = #function,
        _ scene: @escaping @Sendable (NodePlay, inout SeededGenerator) async throws -> Void
    ) async throws {
        let seed = UInt64.random(in: 0 ... .max)
        let play = NodePlay(try await PostgresServer.start(disk), seed: seed)
        try PostgresAdmin(play.target).run("CREATE SCHEMA \(play.schema)")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count { play.add(try play.newNode(), to: &group) }
            let senders = (0..<4).map { sender in Task { await play.send(as: sender) } }
            var random = SeededGenerator(seed: seed)
            let result: Result<Void, any Error>
            do { result = .success(try await scene(play, &random)) } catch { result = .failure(error) }
            play.isOver.store(true, ordering: .releasing)
            for node in play.nodes where node.isRunning { node.proxy.set(.forward) }
            for node in play.nodes where node.isRunning {
                node.proxy.cutOne(in: nil)
                node.proxy.delay(by: .zero)
            }
            try await play.server.start()
            // An append that is still in progress may add an event.
            for sender in senders { await sender.value }
            if case .success = result { try await play.drain() }
            for node in play.nodes { node.stop() }
            try await group.waitForAll()
            print("\(name): seed \(seed): \(play.record.summary)")
            try result.get()
        }
        try await play.check()
    }

    // MARK: Nodes

    /// A node that does not deliver yet.
    private func newNode() throws -> PlayNode {
        let number = lastNode.withLock { number in
            number += 1
            return number
        }
        let node = try PlayNode(number, of: server, schema: schema, record)
        cast.withLock { $0.append(node) }
        return node
    }

    private func add(_ node: PlayNode, to group: inout ThrowingTaskGroup<Void, any Error>) {
        group.addTask { await node.deliver() }
    }

    /// Kills a node and starts another one, which delivers until the end of the play. The task is not structured: a
    /// scene cannot add to the play's group.
    func replace(_ node: PlayNode) throws {
        node.kill()
        let next = try newNode()
        Task { await next.deliver() }
    }

    // MARK: Load

    /// Appends to the nodes in turn. A sender appends the events of its keys one after another, to any node.
    private func send(as sender: Int) async {
        var random = SeededGenerator(seed: seed &+ UInt64(sender))
        while !isOver.load(ordering: .acquiring) {
            guard record.backlog < 400, let node = nodes.filter(\.isRunning).randomElement(using: &random) else {
                try? await Task.sleep(for: .milliseconds(5))
                continue
            }
            let key = Bool.random(using: &random) ? "key-\(sender)-\(Int.random(in: 0..<3, using: &random))" : nil
            let count = Int.random(in: 1...4, using: &random)
            let first = lastEvent.withLock { last in
                last += count
                return last - count
            }
            await node.append(Array(first..<first + count), under: key)
        }
    }

    /// Waits until `count` more events have been accepted. Fails the play when that takes minutes.
    func accept(_ count: Int) async throws {
        let aim = record.acceptedNumbers.count + count
        try await wait("\(count) accepted events") { self.record.acceptedNumbers.count >= aim }
    }

    /// Waits until every accepted event has ended.
    private func drain() async throws {
        let database = try PostgresConnection(target)
        try await wait("the end of all deliveries") {
            try self.record.missing.isEmpty && database.run("SELECT 1 FROM queue LIMIT 1").isEmpty
        }
    }

    /// Polls a condition. Throws if it does not come true within two minutes.
    func wait(_ awaited: String, until isMet: () throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(120)
        while try !isMet() {
            try #require(ContinuousClock.now < end, "\(awaited) did not come, seed \(seed); \(record.summary)")
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    // MARK: Rules

    /// Checks the rules that hold after every play.
    private func check() async throws {
        #expect(record.faults.isEmpty, "seed \(seed)")
        #expect(record.missing.isEmpty, "every accepted event arrives, seed \(seed)")
        let database = try PostgresConnection(target)
        let stored = try database.run(
            "SELECT convert_from(e.body, 'UTF8')::bigint, d.state FROM events e JOIN deliveries d ON d.event = e.seq"
        ).map { (Int(try $0.number(0)), try $0.text(1)) }
        #expect(stored.allSatisfy { $0.1 == "delivered" }, "seed \(seed)")
        let numbers = stored.map(\.0)
        #expect(Set(numbers).count == numbers.count, "an event is accepted once, seed \(seed)")
        #expect(record.acceptedNumbers.isSubset(of: numbers), "seed \(seed)")
        #expect(record.refusedNumbers.isDisjoint(with: numbers), "what was refused was not written, seed \(seed)")
        let audit = try await PostgresStore(target).audit()
        #expect(audit.isRight, "seed \(seed)")
        #expect(audit.accounts.map(\.accepted).reduce(0, +) == numbers.count, "seed \(seed)")
    }
}
