import SignalboxNotification

/// A row of a list. The last attempt is read from the row of its delivery, earlier ones from their own table, by the
/// same columns.
extension DeliveryRecord {
    /// Reads, in this order: number, id and subject of the event, destination, state, attempts, due time, bounds of the
    /// schedule, time of acceptance, whether an attempt is in progress, end of the wait for files, predecessor, whether
    /// an operator ordered it, and ``AttemptRecord/columns``.
    package init(_ row: some RecordRow) throws {
        self.init(
            id: try row.number(0), event: try row.eventID(1), subject: try row.text(2),
            destination: DestinationName(try row.text(3)), state: try row.word(4, as: State.self),
            attempts: try row.count(5), due: try row.date(6), notBefore: try row.optionalDate(7),
            notAfter: try row.optionalDate(8), acceptedAt: try row.date(9),
            last: try AttemptRecord(number: try row.count(5), row, from: 14))
        isInProgress = try row.flag(10)
        mediaUntil = try row.optionalDate(11)
        predecessor = try row.optionalNumber(12)
        isManual = try row.flag(13)
    }
}

extension AttemptRecord {
    /// The columns of an attempt, in the order in which ``init(number:_:from:)`` reads them.
    package static let columns = "started_at, duration, status, error, reason, remote, excerpt, exchange"

    /// Reads ``columns`` from `first` on. Nil before the first attempt, unless something prevented that attempt.
    package init?(number: Int, _ row: some RecordRow, from first: Int) throws {
        let reason = try row.optionalText(first + 4)
        guard number > 0 || reason != nil else { return nil }
        self.init(
            number: number, startedAt: try row.optionalDate(first), duration: try row.optionalCount(first + 1),
            status: try row.optionalCount(first + 2), error: try row.optionalText(first + 3), reason: reason,
            remote: try row.optionalText(first + 5), excerpt: try row.optionalBytes(first + 6) ?? [],
            exchange: try row.optionalBytes(first + 7))
    }
}
