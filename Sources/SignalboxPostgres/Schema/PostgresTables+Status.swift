package import SignalboxStore

/// The tables of a database, for the command line.
extension PostgresTables {
    /// Reads which migrations a database has. Writes nothing. Blocks. Throws like the initialiser of ``PostgresStore``
    /// for a database that cannot be reached.
    package static func status(of target: PostgresTarget) throws(StoreError) -> TableStatus {
        let connection = try connect(target)
        do {
            let status = try PostgresSchema.status(connection)
            return TableStatus(
                place: target.place, pending: status.pending, unknown: status.unknown, isTooNew: status.isTooNew)
        } catch { throw StoreError(error) }
    }

    /// The key by which gateways hash device tokens. Blocks. Throws like ``status(of:)``, and
    /// ``StoreError/otherTables(place:isNewer:)`` for a database without tables.
    package static func tokenKey(of target: PostgresTarget) throws(StoreError) -> [UInt8] {
        let connection = try connect(target)
        do {
            guard try connection.run("SELECT to_regclass('meta') IS NOT NULL").first?.flag(0) == true,
                let key = try connection.run("SELECT token_key FROM meta").first?.bytes(0)
            else { throw StoreError.otherTables(place: target.place, isNewer: false) }
            return key
        } catch { throw StoreError(error) }
    }

    /// Whether a database has a complete copy of a queue, which has not changed since. Blocks. False for a copy that is
    /// not complete, and for one of an earlier state of the queue. Throws ``StoreError/refused(reason:remedy:)`` for a
    /// database without the table of copies.
    package static func hasCopy(of source: CopySource, in target: PostgresTarget) throws(StoreError) -> Bool {
        let connection = try connect(target)
        do {
            let copies = try connection.run(
                "SELECT 1 FROM copies WHERE is_done AND source = $1 AND version = $2",
                [.text(source.identity), .text(source.version)])
            return !copies.isEmpty
        } catch { throw StoreError(error) }
    }

    /// Applies the pending migrations while gateways run; returns their names. Blocks, for hours if the index of a
    /// large table is made.
    ///
    /// Throws ``StoreError/otherTables(place:isNewer:)`` for tables that this version may no longer
    /// write, and ``StoreError/refused(reason:remedy:)`` for a role that may not create tables.
    package static func migrate(_ target: PostgresTarget) throws(StoreError) -> [String] {
        let connection = try connect(target)
        do {
            let status = try PostgresSchema.status(connection)
            guard !status.isTooNew else { throw StoreError.otherTables(place: target.place, isNewer: true) }
            return status.pending.isEmpty ? [] : try PostgresSchema.migrate(connection)
        } catch let error as PostgresFailure where error.kind == .statement(sqlState: "42501") {
            throw .refused(
                reason: "\(target.place) cannot be migrated: \(error.message)",
                remedy: "name a role in gateway.store that may create tables in the schema")
        } catch let error as PostgresFailure where error.kind == .statement(sqlState: "3F000") {
            throw .refused(
                reason: "\(target.place) cannot be migrated: \(error.message)", remedy: "create the schema first")
        } catch { throw StoreError(error) }
    }
}
