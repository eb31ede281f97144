import Foundation
import SignalboxNotification
import SignalboxStore

/// The idempotent requests of a group of appends: which of them repeat a request that was accepted within
/// ``StoreLimits/requestMemory``, here or by another node.
///
/// Adding a key that another transaction has added waits for the end of that transaction. So of two equal requests
/// that arrive at two nodes at once, the second waits for the first and gets its answer.
struct RepeatedRequests {
    /// A key of a source.
    private struct Key: Hashable, Comparable {
        let source: String
        let key: String

        /// By bytes, so that all nodes lock rows in one order.
        static func < (first: Key, second: Key) -> Bool {
            (first.source, first.key) < (second.source, second.key)
        }
    }

    /// A request that was accepted earlier.
    private struct Earlier {
        let digest: [UInt8]
        let answer: StoredAnswer
    }

    private let writes: [AppendWrite]
    /// The first request of the group with each key.
    private var first: [Key: Int] = [:]
    private var earlier: [Key: Earlier] = [:]
    /// Statements that complete the rows of new requests, for the end of the transaction.
    private(set) var statements: [PostgresStatement] = []

    /// Adds the keys of new requests, with the answers that they get if none of their events is a duplicate, and reads
    /// the others. One round trip if the group has idempotent requests, none otherwise.
    init(of writes: [AppendWrite], in transaction: PostgresTransaction) throws {
        self.writes = writes
        for (index, write) in writes.enumerated() {
            guard let request = write.request else { continue }
            let key = Self.key(of: request)
            if first[key] == nil { first[key] = index }
        }
        guard !first.isEmpty else { return }
        let keys = first.keys.sorted()
        let requests = keys.compactMap { first[$0].flatMap { writes[$0].request } }
        let answers = requests.map { $0.answer([:]) }
        let (sources, names) = (PostgresValue.texts(keys.map(\.source)), PostgresValue.texts(keys.map(\.key)))
        let results = try transaction.run(all: [
            PostgresStatement(
                Self.add,
                [
                    sources, names, .manyBytes(requests.map(\.digest)), .manyBytes(answers.map(\.body)),
                    .numbers(answers.map { Int64($0.status) }), .time(transaction.now),
                    .time(transaction.now - StoreLimits.requestMemory),
                ]),
            PostgresStatement(Self.read, [sources, names]),
        ])
        let added = Set(try results[0].map { Key(source: try $0.text(0), key: try $0.text(1)) })
        for (key, row) in try results[1].map({ (Key(source: try $0.text(0), key: try $0.text(1)), $0) })
        where !added.contains(key) {
            earlier[key] = Earlier(
                digest: try row.bytes(2),
                answer: StoredAnswer(status: try row.httpStatus(3), body: try row.bytes(4)))
        }
    }

    /// Whether the events of a request are appended, unless they are duplicates themselves.
    func isNew(_ write: Int) -> Bool {
        guard let request = writes[write].request else { return true }
        let key = Self.key(of: request)
        return earlier[key] == nil && first[key] == write
    }

    /// The result of each request. `duplicates`: of new requests, by request and position.
    mutating func results(_ duplicates: [Int: [Int: String]]) -> [AppendResult] {
        let new = writes.indices.map(isNew)
        var changed: [(key: Key, answer: StoredAnswer)] = []
        for (key, index) in first where new[index] {
            guard let request = writes[index].request else { continue }
            let answer = request.answer(duplicates[index] ?? [:])
            if duplicates[index] != nil { changed.append((key, answer)) }
            // For further requests of the group with the same key.
            earlier[key] = Earlier(digest: request.digest, answer: answer)
        }
        if !changed.isEmpty { statements = [Self.update(changed)] }
        return writes.indices.map { index in
            guard !new[index], let request = writes[index].request, let earlier = earlier[Self.key(of: request)]
            else { return .appended(duplicates: duplicates[index] ?? [:]) }
            return earlier.digest == request.digest ? .repeated(earlier.answer) : .conflicting
        }
    }

    private static func key(of request: IdempotentRequest) -> Key { Key(source: request.source.name, key: request.key) }

    // MARK: Statements

    /// Returns the keys that are new, or replaced because they had expired. Locks the others until the commit.
    private static let add = """
        INSERT INTO requests AS r (source, key, digest, answer, status, at)
        SELECT source, key, digest, answer, status, $6
        FROM unnest($1, $2, $3, $4, $5) AS new (source, key, digest, answer, status)
        ON CONFLICT (source, key) DO UPDATE SET digest = excluded.digest, answer = excluded.answer,
            status = excluded.status, at = excluded.at
            WHERE r.at <= $7
        RETURNING source, key
        """

    private static let read = """
        SELECT source, key, r.digest, r.status, r.answer
        FROM unnest($1, $2) AS new (source, key) JOIN requests r USING (source, key)
        """

    /// The keys are those of this transaction: their rows are locked.
    private static func update(_ answers: [(key: Key, answer: StoredAnswer)]) -> PostgresStatement {
        PostgresStatement(
            """
            UPDATE requests r SET answer = new.answer, status = new.status
            FROM unnest($1, $2, $3, $4) AS new (source, key, answer, status)
            WHERE r.source = new.source AND r.key = new.key
            """,
            [
                .texts(answers.map(\.key.source)), .texts(answers.map(\.key.key)),
                .manyBytes(answers.map(\.answer.body)), .numbers(answers.map { Int64($0.answer.status) }),
            ])
    }
}
