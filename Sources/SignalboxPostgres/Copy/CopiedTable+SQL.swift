import SignalboxStore

extension CopiedTable {
    /// Inserts a batch; its arguments are arrays, one for each column. Leaves out rows that are there already: a batch
    /// may have been committed without the client knowing. Identity columns get the numbers of the source. A row with a
    /// reference that is not an id in the form of the gateway is left out.
    var insertion: String {
        var arguments: [String] = []
        var expressions: [String] = []
        var conditions: [String] = []
        for (index, column) in columns.enumerated() {
            let value = "r.c\(index)"
            switch column.kind {
            case .number: add("bigint", value)
            case .text: add("text", value)
            case .orderKey: add("text", AppendedChunk.stored(orderKey: value))
            case .bytes: add("bytea", value)
            case .flag: add("bigint", "\(value) <> 0")
            case .eventID: add("text", "\(value)::uuid")
            case .reference:
                add("text", "\(value)::uuid")
                conditions.append("\(value) ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'")
            case .digest: add("bytea", "sha256(\(value))")
            }
        }
        func add(_ type: String, _ expression: String) {
            arguments.append("$\(arguments.count + 1)::\(type)[]")
            expressions.append(expression)
        }
        let names = columns.map(\.name).joined(separator: ", ")
        let places = columns.indices.map { "c\($0)" }.joined(separator: ", ")
        // OFFSET 0: the condition holds before the cast is computed.
        return """
            INSERT INTO \(name) (\(names)) OVERRIDING SYSTEM VALUE
            SELECT \(expressions.joined(separator: ", ")) FROM (
                SELECT * FROM unnest(\(arguments.joined(separator: ", "))) AS r (\(places))
                \(conditions.isEmpty ? "" : "WHERE \(conditions.joined(separator: " AND "))") OFFSET 0
            ) AS r ON CONFLICT DO NOTHING
            """
    }
}

extension CopiedBatch {
    /// The arguments of ``CopiedTable/insertion``.
    var arguments: [PostgresValue] {
        columns.map { column in
            switch column {
            case .numbers(let values): .numbers(values)
            case .texts(let values): .texts(values)
            case .bytes(let values): .manyBytes(values)
            }
        }
    }
}
