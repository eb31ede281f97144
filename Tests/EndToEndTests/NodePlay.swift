import Foundation
import SignalboxServer
import SignalboxServerTesting
import SignalboxStoreTesting
import SignalboxTesting
import Synchronization
import Testing

@testable import SignalboxPostgres

/// The set-up of a play.
struct NodeStage: Sendable {
    /// The number of gateways.
    var nodes = 2
    /// Nil for a server of the play's own.
    var database: PostgresServer?
    /// The ports at which gateways find the database, in the order of their URL; nil for that of their proxy.
    var ports: [Int]?
    /// The config of a gateway. `receiver`: the URL below which each destination has its path.
    var config: @Sendable (_ number: Int, _ receiver: String) -> String = { NodePlay.config($0, $1) }
    /// The binary of a gateway.
    var binary: @Sendable (_ number: Int) -> BuiltBinary = { _ in EndToEndTests.binary }
    /// The environment of a gateway, which is started in `directory`.
    var environment: @Sendable (_ number: Int, _ directory: String) throws -> [String: String] = { _, _ in [:] }
}

/// Gateways on one PostgreSQL database under load, while a scene lets things fail. Each has a proxy of its own in front
/// of the database. Afterwards every acknowledged event has arrived, in order, and the ledger is consistent.
final class NodePlay: Sendable {
    /// The name of the destination that orders by key.
    static let ordered = "ordered"
    /// The timeout of each attempt. On a busy machine, a shorter one would cause repeats without a fault.
    static let timeout: Duration = .seconds(120)

    let database: PostgresServer
    let seed: UInt64
    let record: NodeRecord
    private let stage: NodeStage
    private let directory: String
    private let receiver: String
    private let members = Mutex<[Member]>([])
    private let primary: Mutex<PostgresServer>
    private let isOver = Atomic<Bool>(false)

    /// A gateway of the play.
    struct Member: Sendable {
        let gateway: Gateway
        /// In front of the database, unless the stage has ports.
        let proxy: CuttingProxy
        /// Receives load.
        var isUp = true
    }

    /// Runs a play. `scene` runs under load. Prints the seed and a summary.
    static func run(
        _ stage: NodeStage = NodeStage(), _ name: String = #function,
        _ scene: @escaping @Sendable (NodePlay, inout SeededGenerator) async throws -> Void
    ) async throws {
        let seed = UInt64.random(in: 0 ... .max)
        let database = if let given = stage.database { given } else { try await PostgresServer.start() }
        try await withTemporaryDirectory { directory in
            let record = NodeRecord()
            try await ReceivingServer.run(answer: { await record.received($0) }) { receiver in
                let play = NodePlay(stage, database, directory, receiver.url, seed: seed, record)
                do {
                    for _ in 0..<stage.nodes { try await play.startNode() }
                    try await play.perform(scene)
                    print("\(name): seed \(seed): \(record.summary)")
                    try await play.check(in: directory)
                } catch {
                    // A play that fails leaves no gateway behind.
                    for member in play.nodes where member.isUp { await member.gateway.kill() }
                    throw error
                }
                for member in play.nodes where member.isUp { #expect(await member.gateway.stop() == 0, "seed \(seed)") }
            }
        }
    }

    private init(
        _ stage: NodeStage, _ database: PostgresServer, _ directory: String, _ receiver: String, seed: UInt64,
        _ record: NodeRecord
    ) {
        (self.stage, self.database, self.directory, self.receiver) = (stage, database, directory, receiver)
        (self.seed, self.record) = (seed, record)
        primary = Mutex(database)
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
            record.release()
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
        let hosts = (stage.ports ?? [proxy.port]).map { "127.0.0.1:\($0)" }.joined(separator: ",")
        let gateway = try await Gateway.start(
            stage.binary(number), in: place, config: stage.config(number, receiver),
            arguments: ["--store", "postgres://signalbox@\(hosts)/postgres"],
            environment: stage.environment(number, place))
        members.withLock { $0.append(Member(gateway: gateway, proxy: proxy)) }
    }

    /// A config with a destination that orders by key, and one that does not, so that its deliveries go from memory.
    /// `hasBoth`: whether it has the latter.
    static func config(
        _ number: Int, _ receiver: String, hasBoth: Bool = true, concurrency: Int = 16
    ) -> String {
        let common = """
            "secret": "env:WEBHOOK_SECRET", "timeout": "\(timeout.components.seconds)s", "concurrency": \(concurrency),
            "retry": { "attempts": 100, "base": "1ms", "max": "20ms" }
            """
        let plain = hasBoth ? #", "plain": { "url": "\#(receiver)/plain", \#(common) }"# : ""
        return """
            { "gateway": { "name": "node-\(number)" }, "egress": { "allow": ["127.0.0.0/8"] },
              "destinations": {
                "\(ordered)": { "url": "\(receiver)/\(ordered)", "ordering": {"fifo": "/data/target/token"}, \(common) }
                \(plain) },
              "routes": [
                { "name": "everything", "match": {}, "to": ["\(ordered)"\(hasBoth ? #", "plain""# : "")] } ] }
            """
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

    /// From now on, the play asks another server about the deliveries.
    func follow(_ server: PostgresServer) { primary.withLock { $0 = server } }

    /// The server that accepts writes.
    var primaryURL: String { primary.withLock { $0.url } }

    // MARK: Load

    /// Posts events of its own keys, one after another, to any gateway.
    private func send(as sender: Int) async {
        var random = SeededGenerator(seed: seed &+ UInt64(sender) &+ 1)
        var number = 0
        while !isOver.load(ordering: .acquiring) {
            guard record.backlog < 400,
                let member = nodes.filter(\.isUp).randomElement(using: &random)
            else {
                // The pace of the load.
                try? await Task.sleep(for: .milliseconds(5))
                continue
            }
            number += 1
            let key = "key-\(sender)-\(Int.random(in: 0..<3, using: &random))"
            await post(Self.payload(key, number), to: member, key, number)
        }
    }

    private static func payload(_ key: String, _ number: Int) -> Data {
        Data(#"{"message":{"token":"\#(key)","notification":{"title":"\#(key) number \#(number) end"}}}"#.utf8)
    }

    /// Posts until an event is refused, even while the load rests because many events have not arrived.
    func postUntilRefused() async throws {
        let (key, refused) = ("key-\(UUID())", record.refused)
        var number = 0
        while record.refused == refused {
            let member = nodes.first(where: \.isUp)
            number += 1
            await post(Self.payload(key, number), to: try #require(member), key, number)
        }
    }

    /// Posts an event, and records the answer; returns the id of the event if it was accepted. `number`: among the
    /// events of `key`.
    @discardableResult
    func post(_ payload: Data, to member: Member, _ key: String, _ number: Int) async -> String? {
        do {
            let (status, receipt) = try await member.gateway.post(payload)
            let id = receipt["id"] as? String
            record.answered(status, id, key, number)
            return status == 202 ? id : nil
        } catch {
            record.unanswered(key, number)
            return nil
        }
    }

    /// Waits until `count` more events have been acknowledged.
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
}
