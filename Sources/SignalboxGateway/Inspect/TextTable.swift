/// Pads cells to columns, for the tables that commands print.
package enum TextTable {
    /// Rows whose columns are as wide as their longest cell, two spaces apart; the last column is not padded. Rows
    /// may have different numbers of cells. Each row ends with a line end; the result is empty without rows. Cells
    /// are printed unchanged: the caller removes control characters.
    package static func lines(_ rows: [[String]]) -> String {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0 }
        return rows.map { row($0, widths: Array(widths.dropLast())) + "\n" }.joined()
    }

    /// One row of cells at least as wide as `widths`. A cell beyond the widths is not padded. Widths count
    /// characters, not columns of a terminal. `separator` is between all cells. Longer cells are not cut.
    package static func row(_ cells: [String], widths: [Int], separator: String = "  ") -> String {
        cells.enumerated().map { index, cell in
            index < widths.count ? cell + String(repeating: " ", count: max(0, widths[index] - cell.count)) : cell
        }.joined(separator: separator)
    }
}
