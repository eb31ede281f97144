import GRDB

/// Conditions of a statement that must all hold, with their arguments in order. Without any, every row meets them.
struct SQLConditions {
    /// Never empty: the first one is always true.
    private var conditions = ["1"]
    /// By position, so all conditions use `?` and no names.
    private var arguments = StatementArguments()

    /// The conditions as one, for `WHERE` or a column, with a value for each `?`.
    var sql: (condition: String, arguments: StatementArguments) { (conditions.joined(separator: " AND "), arguments) }

    /// Adds a condition without arguments.
    mutating func add(_ condition: String) { conditions.append(condition) }

    /// Adds a condition with one argument; nothing without a value.
    mutating func add(_ condition: String, _ value: (any DatabaseValueConvertible)?) {
        if let value { add(condition, values: [value]) }
    }

    /// Adds a condition with several arguments; nothing without them.
    mutating func add(_ condition: String, values: StatementArguments?) {
        guard let values else { return }
        conditions.append(condition)
        arguments += values
    }
}
