import GRDB

/// A row that is written whole.
protocol NewRow {
    static var table: String { get }
    static var columns: [String] { get }
    /// Gives a value for each of the columns, in their order.
    func bind(_ row: inout RowStatement.Arguments)
}

/// Rows that are inserted many at a time: for every statement SQLite opens the table and each of its indexes anew, which
/// costs about as much as a row does.
///
/// Rows are in the table once they are flushed. For use within one transaction, which has failed when this throws.
struct BulkInsert<Row: NewRow> {
    private var rows: [Row] = []
    private var statements: [Int: RowStatement] = [:]
    /// How many rows statements insert, the largest first.
    private static var sizes: [Int] { [32, 8, 1] }

    mutating func add(_ row: Row, in db: Database) throws {
        rows.append(row)
        if rows.count == Self.sizes[0] { try flush(in: db) }
    }

    mutating func flush(in db: Database) throws {
        var rest = rows[...]
        for size in Self.sizes {
            while rest.count >= size {
                try statement(of: size, in: db).run { row in
                    for new in rest.prefix(size) { new.bind(&row) }
                }
                rest = rest.dropFirst(size)
            }
        }
        rows.removeAll(keepingCapacity: true)
    }

    private mutating func statement(of size: Int, in db: Database) throws -> RowStatement {
        if let statement = statements[size] { return statement }
        let row = "(" + Row.columns.map { _ in "?" }.joined(separator: ", ") + ")"
        // FAIL, not ABORT: to take back the rows before one that is refused SQLite would keep a copy of every page, and
        // the transaction ends with it anyway.
        let statement = try RowStatement(
            db,
            sql: "INSERT OR FAIL INTO \(Row.table) (\(Row.columns.joined(separator: ", "))) VALUES "
                + repeatElement(row, count: size).joined(separator: ", "),
            room: size * 2048)
        statements[size] = statement
        return statement
    }
}
