import GRDB

/// A row that is inserted together with others. The conforming type and its table agree on the columns and on their
/// order. Used for events and deliveries, which every append writes.
protocol NewRow {
    /// The statements for the table of these rows, shared by all inserts.
    static var insertion: Insertion { get }
    /// Binds a value for each of the columns, in their order. Binds exactly as many values as ``insertion`` has
    /// columns; ``RowStatement/run(_:)`` traps otherwise.
    func bind(_ row: inout RowStatement.Arguments)
}

/// The statements that insert rows of a table, written once.
struct Insertion {
    /// Names in the order of the values.
    let columns: [String]
    /// The statements by the number of rows that they insert.
    let statements: [Int: String]

    /// How many rows a statement may insert, largest first. Powers of two, so that a small group takes few statements.
    fileprivate static let sizes = [32, 16, 8, 4, 2, 1]

    /// `table` and `columns` become part of the SQL unescaped: they are constants of the program.
    init(into table: String, _ columns: [String]) {
        self.columns = columns
        let row = "(" + columns.map { _ in "?" }.joined(separator: ", ") + ")"
        // With ABORT, SQLite would copy every page to be able to undo the rows before a rejected one. The transaction
        // is rolled back anyway.
        let opening = "INSERT OR FAIL INTO \(table) (\(columns.joined(separator: ", "))) VALUES "
        statements = Self.sizes.reduce(into: [:]) { statements, size in
            statements[size] = opening + repeatElement(row, count: size).joined(separator: ", ")
        }
    }
}

/// Inserts many rows with each statement: for every statement SQLite opens the table and each of its indexes anew,
/// which costs about as much as a row does. Rows are in the table once they are flushed. For use within one
/// transaction, which has failed when this throws. Keeps at most 32 rows in memory.
struct BulkInsert<Row: NewRow> {
    /// Fewer than 32 between two calls.
    private var rows: [Row] = []
    /// The prepared statements by their number of rows; each is prepared at its first use.
    private var statements: [Int: RowStatement] = [:]

    /// Writes 32 rows at a time. Throws when a row violates a constraint.
    mutating func add(_ row: consuming Row, in db: Database) throws {
        rows.append(row)
        if rows.count == Insertion.sizes[0] { try flush(in: db) }
    }

    /// Writes the remaining rows with statements for 32, 16, 8, 4, 2 and 1 of them. After an error, the value must not
    /// be used again: some rows are written and none is removed from it.
    mutating func flush(in db: Database) throws {
        var next = 0
        for size in Insertion.sizes {
            while rows.count - next >= size {
                try statement(of: size, in: db).run { row in
                    // By positions, because a slice copies each row.
                    for position in next..<next + size { rows[position].bind(&row) }
                }
                next += size
            }
        }
        rows.removeAll(keepingCapacity: true)
    }

    /// Prepared at the first use in the transaction.
    private mutating func statement(of size: Int, in db: Database) throws -> RowStatement {
        if let statement = statements[size] { return statement }
        guard let sql = Row.insertion.statements[size] else { preconditionFailure("No statement has that size.") }
        let statement = try RowStatement(db, sql: sql, sharing: statements.values.first)
        statements[size] = statement
        return statement
    }
}
