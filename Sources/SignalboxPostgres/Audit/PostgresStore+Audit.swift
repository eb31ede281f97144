package import SignalboxStore

/// The audit reads everything in one snapshot, in steps. It writes nothing, so it may run next to gateways.
extension PostgresStore {
    /// Content that cannot be read becomes a line of the audit. Throws only when the server does not answer. Old
    /// versions of rows are kept until it ends, so it should not run all the time.
    package func audit() async throws(StoreError) -> Audit {
        try await readers.snapshot { connection in
            var notes = AuditNotes(connection)
            let accounts = try notes.reading("the ledger or a delivery", orElse: []) { connection in
                try LedgerEntry.accounts(of: connection.deliveryCounts(), by: connection.ledger())
            }
            var (orphans, waits) = (0, 0)
            for pass in AuditPass.all {
                let counts = try notes.reading("the table \(pass.table)", orElse: nil) { try pass.counts(on: $0) }
                guard let counts else { continue }
                orphans += counts[.orphan] ?? 0
                waits += counts[.strayWait] ?? 0
                notes.add(pass.lines(for: counts))
            }
            notes.add(try notes.reading("leases", orElse: []) { try AuditPass.abandonedLeases(on: $0) })
            notes.add(try notes.reading("the counts of media", orElse: []) { try AuditPass.mediaCounts(on: $0) })
            notes.add(try notes.reading("in-app rows", orElse: []) { try Self.inAppFindings(on: $0) })
            return Audit(accounts: accounts, orphans: orphans, strayWaits: waits, damage: notes.lines, loss: nil)
        }
    }
}

/// Collects findings. Continues after content that cannot be read, so that one audit names every damaged part.
private struct AuditNotes {
    private let connection: PostgresConnection
    /// In the order of the audit.
    private(set) var lines: [String] = []

    init(_ connection: PostgresConnection) { self.connection = connection }

    mutating func add(_ more: [String]) { lines += more }

    /// Returns `empty` for content that cannot be read. Rethrows failures of the connection. `subject`: the noun of the
    /// sentence. `body` reads in a savepoint of the snapshot, so a failed statement does not end the others.
    mutating func reading<T>(
        _ subject: String, orElse empty: T, _ body: (PostgresConnection) throws -> T
    ) throws -> T {
        // An error would otherwise end the snapshot.
        _ = try connection.run("SAVEPOINT part")
        let reason: String
        do {
            let result = try body(connection)
            _ = try connection.run("RELEASE part")
            return result
        } catch let error as DamagedValue {
            reason = error.reason
        } catch let failure as PostgresFailure where failure.isDamage {
            reason = failure.message
        }
        _ = try connection.run("ROLLBACK TO part")
        lines.append("\(subject) cannot be read: \(reason)")
        return empty
    }
}

extension PostgresFailure {
    /// Whether the server found content that it cannot read: data or an index is corrupted (class XX), or a value is
    /// invalid for its type (class 22, data exceptions).
    fileprivate var isDamage: Bool {
        guard case .statement(let state) = kind else { return false }
        return state.hasPrefix("XX") || state.hasPrefix("22")
    }
}
