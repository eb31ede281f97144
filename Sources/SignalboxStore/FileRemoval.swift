/// One step of a removal of files, least recently used first. Runs in one transaction. After its commit, the caller
/// removes the files from the disk. Files that a waiting delivery needs stay, even beyond the limit on bytes.
package struct FileRemoval: Sendable {
    /// A file that may be removed. In the order of removals: the least recently used one first.
    package struct Candidate: Sendable, Comparable {
        package let id: Int64
        /// SHA-256, in hexadecimal digits.
        package let sha256: String
        fileprivate let bytes: Int64
        fileprivate let usedAt: Int64

        /// The columns of a row of `files`, in the order in which ``init(_:)`` reads them.
        package static let columns = "id, sha256, bytes, used_at"

        /// Reads ``columns``.
        package init(_ row: some RecordRow) throws {
            self.init(
                id: try row.number(0), sha256: try row.text(1), bytes: try row.number(2), usedAt: try row.number(3))
        }

        init(id: Int64, sha256: String, bytes: Int64, usedAt: Int64) {
            (self.id, self.sha256, self.bytes, self.usedAt) = (id, sha256, bytes, usedAt)
        }

        package static func < (first: Self, second: Self) -> Bool {
            (first.usedAt, first.id) < (second.usedAt, second.id)
        }
    }

    /// The last file that was read, by its use and its number.
    package struct Position: Sendable {
        /// In milliseconds since 1970.
        package var usedAt = Int64.min
        /// Decides between files of the same time.
        package var id: Int64 = 0
    }

    /// The result of an attempt to forget one file.
    package enum Finding {
        /// A waiting delivery links to the file, or may link to it after a download.
        case needed
        /// The file is forgotten; the caller removes it from the disk.
        case removed
        /// The file has more references than one step removes.
        case named
    }

    /// The most files of one step, and the most references of each file.
    package static let most = 500

    /// In milliseconds since 1970. Files that were used earlier are removed regardless of the limit on bytes.
    private let usedBefore: Int64
    /// Bytes beyond the limit.
    private var surplus: Int64
    /// SHA-256 digests of the files.
    private var removed: [String] = []
    /// The position at which the next step continues; nil when there is none.
    private var next: Position?

    /// Removes files that were used before a time, and others until the surplus is gone. `step`: runs
    /// ``forget(_:after:_:)`` in a transaction. `gone`: receives the digests of each step after its commit. Returns the
    /// number of files.
    package static func run(
        usedBefore: Int64, surplus: Int64, pause: () async -> Void, gone: ([String]) async -> Void,
        step: (FileRemoval, _ start: Position) async throws(StoreError) -> FileRemoval
    ) async throws(StoreError) -> Int {
        var (surplus, count) = (surplus, 0)
        var position: Position? = Position()
        while let start = position {
            let removal = try await step(FileRemoval(usedBefore: usedBefore, surplus: surplus), start)
            surplus = removal.surplus
            count += removal.removed.count
            if !removal.removed.isEmpty { await gone(removal.removed) }
            position = removal.next
            if position != nil { await pause() }
        }
        return count
    }

    private init(usedBefore: Int64, surplus: Int64) { (self.usedBefore, self.surplus) = (usedBefore, surplus) }

    /// `files`: the next ones after `start`, at most ``most``. `forget`: forgets a file unless it is needed. Stops at a
    /// file that has more references than one step removes. Throws ``DamagedValue`` for files that are out of order.
    package mutating func forget(
        _ files: [Candidate], after start: Position, _ forget: (Candidate) throws -> Finding
    ) throws {
        var position = start
        for file in files {
            guard (file.usedAt, file.id) > (position.usedAt, position.id) else {
                throw DamagedValue("the files are out of order")
            }
            guard file.usedAt < usedBefore || surplus > 0 else { return next = nil }
            switch try forget(file) {
            case .named: return next = position
            case .needed: break
            case .removed:
                removed.append(file.sha256)
                surplus -= file.bytes
            }
            position = Position(usedAt: file.usedAt, id: file.id)
        }
        next = files.count == Self.most ? position : nil
    }
}
