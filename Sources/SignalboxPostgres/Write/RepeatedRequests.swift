import SignalboxNotification
import SignalboxStore

/// The idempotent requests of a group of appends: which of them repeat a request that was accepted within
/// ``StoreLimits/requestMemory``, here or by another node.
///
/// Each new key is locked until the commit. When two equal requests arrive at two nodes at once, the second one finds
/// the lock taken. It is retried once the others of its group are committed, and then gets the answer of the first one.
/// The transaction does not wait, because a node that was stopped keeps the lock.
struct RepeatedRequests {
    private typealias Key = SourceKey

    /// A request that was accepted earlier.
    private struct Earlier {
        /// Of the body: a request with the same key and another digest is a conflict.
        let digest: [UInt8]
        let answer: StoredAnswer
    }

    /// All of the group, including those without a key.
    private let writes: [AppendWrite]
    /// The first request of the group with each key.
    private var first: [Key: Int] = [:]
    /// Keys that another transaction has locked.
    private var busy: Set<Key> = []
    /// Stored answers, and those of the group once ``results(_:)`` knows them.
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
        let (sources, names) = SourceKey.columns(of: keys)
        let results = try transaction.run(all: [
            PostgresStatement(
                Self.add,
                [
                    sources, names, .manyBytes(requests.map(\.digest)), .manyBytes(answers.map(\.body)),
                    .numbers(answers.map { Int64($0.status) }), .time(transaction.now),
                    .time(transaction.now - StoreLimits.requestMemory),
                ]),
            PostgresStatement(Self.read, [sources, names, .time(transaction.now - StoreLimits.requestMemory)]),
        ])
        let added = Set(try results[0].map { try Key($0) })
        for (key, row) in try results[1].map({ (try Key($0), $0) })
        where !added.contains(key) {
            earlier[key] = Earlier(
                digest: try row.bytes(2), answer: StoredAnswer(status: try row.httpStatus(3), body: try row.bytes(4)))
        }
        busy = Set(keys.filter { !added.contains($0) && earlier[$0] == nil })
    }

    /// Whether the events of a request are appended, unless they are duplicates themselves.
    func isNew(_ write: Int) -> Bool {
        guard let request = writes[write].request else { return true }
        let key = Self.key(of: request)
        return earlier[key] == nil && first[key] == write && !busy.contains(key)
    }

    /// The result of each request; nil for one that must be retried. `duplicates`: of new requests, by request and
    /// position.
    mutating func results(_ duplicates: [Int: [Int: String]]) -> [AppendResult?] {
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
            guard !new[index], let request = writes[index].request else {
                return .appended(duplicates: duplicates[index] ?? [:])
            }
            guard let earlier = earlier[Self.key(of: request)] else { return nil }
            return earlier.digest == request.digest ? .repeated(earlier.answer) : .conflicting
        }
    }

    private static func key(of request: IdempotentRequest) -> Key { Key(source: request.source.name, key: request.key) }

    // MARK: Statements

    /// A lock of the server's memory, which each transaction takes before it adds a key. Other keys with the same hash
    /// share it.
    private static let lock = """
        pg_try_advisory_xact_lock(hashtext(current_schema() || ' requests'), hashtext(source || ' ' || key))
        """

    /// The lock of a request, as if its transaction was in progress.
    static func lock(_ request: IdempotentRequest) -> PostgresStatement {
        PostgresStatement(
            "SELECT \(lock) FROM (SELECT $1 AS source, $2 AS key) AS new",
            [.text(request.source.name), .text(request.key)])
    }

    /// Returns the keys that are new, or replaced because they had expired. Locks the others until the commit.
    private static let add = """
        INSERT INTO requests AS r (source, key, digest, answer, status, at)
        SELECT source, key, digest, answer, status, $6
        FROM unnest($1, $2, $3, $4, $5) AS new (source, key, digest, answer, status)
        WHERE \(lock)
        ON CONFLICT (source, key) DO UPDATE SET digest = excluded.digest, answer = excluded.answer,
            status = excluded.status, at = excluded.at
            WHERE r.at <= $7
        RETURNING source, key
        """

    /// Runs after ``add`` in a snapshot of its own, so it sees an answer that was committed meanwhile. Leaves out
    /// expired ones.
    private static let read = """
        SELECT source, key, r.digest, r.status, r.answer
        FROM unnest($1, $2) AS new (source, key) JOIN requests r USING (source, key) WHERE r.at > $3
        """

    /// The keys are those of this transaction: their rows are locked. Changes only answers of requests with duplicates:
    /// the others were stored with the right answer.
    private static func update(_ answers: [(key: Key, answer: StoredAnswer)]) -> PostgresStatement {
        let (sources, keys) = SourceKey.columns(of: answers.map(\.key))
        return PostgresStatement(
            """
            UPDATE requests r SET answer = new.answer, status = new.status
            FROM unnest($1, $2, $3, $4) AS new (source, key, answer, status)
            WHERE r.source = new.source AND r.key = new.key
            """,
            [sources, keys, .manyBytes(answers.map(\.answer.body)), .numbers(answers.map { Int64($0.answer.status) })])
    }
}
