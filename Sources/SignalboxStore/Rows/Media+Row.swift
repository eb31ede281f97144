package import SignalboxNotification

// Downloads and files as every store keeps them.

extension MediaFile {
    /// Reads digest, size, type, width, height and duration from `first` on; nil when there is no file.
    package init?(_ row: some RecordRow, from first: Int) throws {
        guard let sha256 = try row.optionalText(first), let bytes = try row.optionalCount(first + 1),
            let type = try row.optionalText(first + 2)
        else { return nil }
        self.init(
            sha256: sha256, bytes: bytes, contentType: type, width: try row.optionalCount(first + 3),
            height: try row.optionalCount(first + 4), milliseconds: try row.optionalCount(first + 5))
    }
}

extension MediaFailure {
    /// Reads code and words from `first` on; nil when there is no known code.
    package init?(_ row: some RecordRow, from first: Int) throws {
        guard let code = try row.optionalText(first).flatMap({ Code(rawValue: $0) }) else { return nil }
        self.init(code, try row.optionalText(first + 1) ?? "")
    }
}

extension [MediaRemark] {
    /// Reads codes with spaces between them; empty for NULL.
    package init(_ row: some RecordRow, from column: Int) throws {
        let codes = try row.optionalText(column) ?? ""
        self = codes.split(separator: " ").compactMap { MediaRemark(rawValue: String($0)) }
    }
}

extension MediaValidators {
    /// Reads ETag, Last-Modified and the digest of the file from `first` on; nil when a request cannot use them.
    package init?(_ row: some RecordRow, from first: Int) throws {
        self.init(etag: try row.optionalText(first), lastModified: try row.optionalText(first + 1))
        guard try row.optionalText(first + 2) != nil, self != MediaValidators() else { return nil }
    }
}

extension MediaState {
    /// Reads the state of one URL of an event from `first` on: state of the download, whether it ended since the event
    /// waits for it, code and words of its failure, remarks, and the columns of ``MediaFile``. `isOver`: whether the
    /// wait of the delivery is over.
    ///
    /// A download that ended since the event waits for it counts, even if it was requested again. Pending unless the
    /// download has ended, or the wait is over and an older file is stored.
    package init(_ row: some RecordRow, from first: Int, isOver: Bool) throws {
        let state = try row.word(first, as: MediaURLRecord.State.self)
        let hasEnded = try row.flag(first + 1) || (state != .wanted && state != .resting)
        self = .pending
        guard hasEnded || isOver else { return }
        if let file = try MediaFile(row, from: first + 5) {
            self = .stored(file, remarks: try [MediaRemark](row, from: first + 4))
        } else if hasEnded, let failure = try MediaFailure(row, from: first + 2) {
            self = .failed(failure)
        }
    }
}

extension MediaURLRecord {
    /// The columns of a row of `media`, in the order in which ``init(_:)`` reads them.
    package static let columns = "id, url, state, attempts, due, wanted_at, checked_at, reason, words, sha256"

    /// Reads ``columns``.
    package init(_ row: some RecordRow) throws {
        self.init(
            id: try row.number(0), url: String(decoding: try row.bytes(1), as: UTF8.self),
            state: try row.word(2, as: State.self), attempts: try row.count(3), due: try row.date(4),
            wantedAt: try row.date(5), checkedAt: try row.optionalDate(6), failure: try MediaFailure(row, from: 7),
            sha256: try row.optionalText(9))
    }
}

extension MediaFileRecord {
    /// The columns of a row of `files`, in the order in which ``init(_:urls:)`` reads them.
    package static let columns = "id, kept_at, used_at, sha256, bytes, type, width, height, duration"

    /// Reads ``columns``. `urls`: those of the digest, in any order.
    package init(_ row: some RecordRow, urls: (_ digest: String) throws -> [String]) throws {
        guard let file = try MediaFile(row, from: 3) else { throw DamagedValue("a file has no digest") }
        self.init(
            id: try row.number(0), file: file, urls: try urls(file.sha256).sorted(), keptAt: try row.date(1),
            usedAt: try row.date(2))
    }
}
