import Foundation
import GRDB
import SignalboxNotification
import SignalboxStoreTesting
import SignalboxTesting
import Testing

@testable import SignalboxSQLite
@testable import SignalboxStore

/// Rounds of the sweep; `make damage` asks for more.
private let rounds = ProcessInfo.processInfo.environment["SIGNALBOX_DAMAGE_ROUNDS"].flatMap { Int($0) }

/// Damages files in many ways. No call traps, every call ends, and missing deliveries are reported.
///
/// A round of `make damage` takes minutes, and rounds run one after the other.
@Suite(.serialized, .timeLimit(.minutes(rounds == nil ? 10 : 60))) struct DamageTests {
    enum Damage: String, CaseIterable {
        case zeroed, random, swapped, copied
    }

    private static let pageSize = 8192

    /// Damages each page of a small queue in turn.
    @Test(arguments: 0..<(rounds ?? 1)) func reportsADamagedPage(_ round: Int) async throws {
        try await withTemporaryDirectory { directory in
            let whole = DamagedFile(directory: directory)
            try await whole.fill(events: rounds == nil ? 24 : 400)
            let bytes = try Data(contentsOf: URL(fileURLWithPath: whole.path))
            let due = try await whole.withCopy(bytes) { try await $0.use() }
            #expect(!due.isReported && !due.claimed.isEmpty)
            let seed = rounds == nil ? 20_261_122 : UInt64.random(in: 0 ... .max)
            var random = SeededGenerator(seed: seed)
            for page in 0..<bytes.count / Self.pageSize {
                let some = Damage.allCases.randomElement(using: &random) ?? .zeroed
                for damage in rounds == nil ? [some] : Damage.allCases {
                    let damaged = Self.damaged(bytes, page, damage, using: &random)
                    let result = try await whole.withCopy(damaged) { try await $0.use() }
                    let isSilent = !result.claimed.isSuperset(of: due.claimed)
                    #expect(!isSilent || result.isReported, "seed \(seed), page \(page + 1), \(damage)")
                }
            }
        }
    }

    private static func damaged(
        _ bytes: Data, _ page: Int, _ damage: Damage, using random: inout SeededGenerator
    ) -> Data {
        var damaged = bytes
        let other = Int.random(in: 0..<bytes.count / pageSize, using: &random)
        func bounds(_ page: Int) -> Range<Int> { page * pageSize..<(page + 1) * pageSize }
        switch damage {
        case .zeroed: damaged.replaceSubrange(bounds(page), with: Data(count: pageSize))
        case .random:
            let noise = (0..<pageSize).map { _ in UInt8.random(in: 0 ... .max, using: &random) }
            damaged.replaceSubrange(bounds(page), with: noise)
        case .copied: damaged.replaceSubrange(bounds(page), with: bytes[bounds(other)])
        case .swapped:
            damaged.replaceSubrange(bounds(page), with: bytes[bounds(other)])
            damaged.replaceSubrange(bounds(other), with: bytes[bounds(page)])
        }
        return damaged
    }

    /// Values that the tables' constraints reject and damage may leave.
    private static let values = ["NULL", "9223372036854775807", "-1", "1.5", "'\u{1}nonsense'", "x'00ff'", "''"]

    /// Writes an invalid value into each column of each table.
    @Test func survivesAnInvalidValueInEachColumn() async throws {
        try await withTemporaryDirectory { directory in
            let whole = DamagedFile(directory: directory)
            try await whole.fill(events: 8)
            try whole.dropConstraints()
            let bytes = try Data(contentsOf: URL(fileURLWithPath: whole.path))
            let columns = try whole.columns()
            #expect(columns.count > 60)
            for (position, (table, column)) in columns.enumerated() {
                // Trying all values takes a minute.
                let values = rounds == nil ? [Self.values[position % Self.values.count]] : Self.values
                for value in values {
                    _ = try await whole.withCopy(bytes) { file in
                        try file.set(column, of: table, to: value)
                        return try await file.use()
                    }
                }
            }
        }
    }

    /// One event of three cannot be read.
    @Test(arguments: ["seq = -1", "accepted_at = NULL", "id = 'a' || char(10)", "body = NULL"])
    func aDamagedDeliveryDoesNotBlockOthers(_ change: String) async throws {
        try await withTemporaryDirectory { directory in
            let file = DamagedFile(directory: directory)
            try await file.fill(events: 3)
            try file.dropConstraints()
            try file.write("UPDATE events SET \(change) WHERE seq = 2")
            let result = try await file.use()
            // Deliveries 3 and 4 are of the second event.
            #expect(result.claimed.isSuperset(of: [5, 6]))
            #expect(result.isReported)
        }
    }

    /// A backup is about to replace the file, and new events would be lost with it.
    @Test func rejectsEventsOnceDamageWasFound() async throws {
        try await withTemporaryDirectory { directory in
            let file = DamagedFile(directory: directory)
            try await file.fill(events: 3)
            try file.dropConstraints()
            try file.set("accepted_at", of: "events", to: "NULL")
            let queue = try SQLiteQueue(in: directory, now: { file.clock.now }, elapsed: { file.clock.elapsed })
            try await queue.probe()
            await #expect(throws: StoreError.self) {
                try await queue.remove(beyond: .init(ended: .zero, dead: .zero, bytes: 1))
            }
            let damage = try #require(queue.health.damage)
            #expect(queue.health.takeUnreportedDamage() == damage)
            #expect(queue.health.takeUnreportedDamage() == nil, "reported once")
            await #expect(throws: damage) { try await queue.probe() }
            let event = RoutedEvent(
                event: Event(
                    id: EventID(at: Date(), random: (1, 2)), source: .default, acceptedAt: Date(), vendor: .unknown,
                    kind: .alert, warnings: [], body: [1]), routes: [], deliveries: [])
            await #expect(throws: damage) { try await queue.append([event]) }
            let answer = await withCheckedContinuation { done in
                queue.append([event]) { done.resume(returning: $0) }
            }
            #expect(throws: damage) { try answer.get() }
        }
    }
}

extension DamagedFile {
    /// Lends a copy with other bytes, and removes it afterwards. Each copy has its own directory: a queue that closes
    /// removes its files later, perhaps while the next copy is in use.
    fileprivate func withCopy<R>(_ bytes: Data, _ body: (DamagedFile) async throws -> R) async throws -> R {
        let copy = DamagedFile(directory: directory + "/" + UUID().uuidString)
        try FileManager.default.createDirectory(atPath: copy.directory, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: copy.directory) }
        try bytes.write(to: URL(fileURLWithPath: copy.path))
        return try await body(copy)
    }

    /// Lets every column hold any value.
    fileprivate func dropConstraints() throws {
        let writer = try DatabaseQueue(path: path)
        try writer.writeWithoutTransaction { db in
            try db.execute(
                sql: """
                    PRAGMA writable_schema = ON;
                    UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '') WHERE type = 'table';
                    PRAGMA writable_schema = RESET
                    """)
        }
        try writer.close()
    }

    fileprivate func columns() throws -> [(table: String, column: String)] {
        let reader = try DatabaseQueue(path: path)
        defer { try? reader.close() }
        return try reader.read { db in
            try StoredRow.fetchAll(
                db,
                sql: """
                    SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c
                    WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'
                    """
            ).map { (try $0.text(0), try $0.text(1)) }
        }
    }

    /// Sets the value if possible: a key stays unique, and a row's number stays a number.
    fileprivate func set(_ column: String, of table: String, to value: String) throws {
        do {
            try write("UPDATE OR IGNORE \(table) SET \(column) = \(value)")
        } catch let error as DatabaseError {
            guard error.resultCode == .SQLITE_MISMATCH || error.resultCode == .SQLITE_CONSTRAINT else { throw error }
        }
    }

    /// Makes writes that the gateway never makes.
    fileprivate func write(_ sql: String) throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let writer = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? writer.close() }
        try writer.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA ignore_check_constraints = ON")
            try db.execute(sql: sql)
        }
    }
}
