import SignalboxStore

/// The tables of the file from which a copy reads.
struct CopyOrigin {
    /// The clause after `FROM`.
    let tables: String
    /// Columns by which the rows are ordered; together they are unique, and found by an index.
    let key: [String]
    /// Constant text for `WHERE`; nil copies every row.
    let condition: String?
    /// Expressions for columns with another name or another form in the target.
    let expressions: [String: String]

    private init(
        _ tables: String, by key: String..., where condition: String? = nil, as expressions: [String: String] = [:]
    ) { (self.tables, self.key, self.condition, self.expressions) = (tables, key, condition, expressions) }

    /// Traps for an unknown table. Each table of ``CopiedTable/all`` has one.
    init(of table: CopiedTable) {
        guard let origin = Self.all[table.name] else { preconditionFailure("A table has no origin.") }
        self = origin
    }

    /// Selects the columns of the target, then those of the key. `isFirst`: without a position. Arguments: the values
    /// of the position, in the order of the key. NULL stays NULL in a cast to bytes.
    func query(_ table: CopiedTable, isFirst: Bool) -> String {
        let columns = table.columns.map { column in
            let expression = expressions[column.name] ?? column.name
            return switch column.kind {
            case .bytes, .digest: "CAST(\(expression) AS BLOB)"
            case .number, .text, .orderKey, .flag, .eventID, .reference: expression
            }
        }
        let names = key.joined(separator: ", ")
        let place = isFirst ? nil : "(\(names)) > (\(key.map { _ in "?" }.joined(separator: ", ")))"
        let conditions = [condition, place].compactMap { $0 }
        return "SELECT \((columns + key).joined(separator: ", ")) FROM \(tables)"
            + (conditions.isEmpty ? "" : " WHERE \(conditions.joined(separator: " AND "))")
            + " ORDER BY \(names) LIMIT \(CopiedBatch.rows)"
    }

    /// The columns of the key that are numbers; the others are texts.
    private static let numbers: Set = ["seq", "id", "event", "delivery", "number", "file", "media", "kind", "what"]

    /// Whether a column of the key is a number in this table.
    func isNumber(_ column: String) -> Bool {
        guard Self.numbers.contains(column) else { return false }
        // Ids of apps are texts.
        return column != "id" || !(tables.hasPrefix("inapp_") || tables == "channels")
    }

    /// SQLite would read a partial index and sort.
    private static let deliveries = "deliveries NOT INDEXED"

    /// By the name of the table in the target. `queue` and `ended` come from one table here, and `destinations` from
    /// two.
    private static let all: [String: CopyOrigin] = [
        "events": CopyOrigin("events", by: "seq"),
        "variants": CopyOrigin("variants", by: "id"),
        "requests": CopyOrigin("requests", by: "source", "key"),
        "duplicates": CopyOrigin("duplicates", by: "source", "key"),
        "payloads": CopyOrigin("payloads", by: "event"),
        "reports": CopyOrigin("reports", by: "about", "event"),
        "actions": CopyOrigin("actions", by: "id"),
        "categories": CopyOrigin("categories", by: "identifier"),
        "channels": CopyOrigin("channels", by: "app", "id"),
        "destinations": CopyOrigin(
            """
            (SELECT name AS place FROM destinations UNION SELECT destination FROM withheld)
            LEFT JOIN destinations ON destinations.name = place LEFT JOIN withheld ON withheld.destination = place
            """, by: "place",
            as: [
                "name": "place", "reason": "destinations.reason", "since": "destinations.since",
                "withheld_reason": "withheld.reason", "withheld_since": "withheld.since",
            ]),
        "files": CopyOrigin("files", by: "id"),
        "media": CopyOrigin("media", by: "id", as: ["digest": "url"]),
        "event_files": CopyOrigin("event_files", by: "file", "event"),
        "media_events": CopyOrigin("media_events", by: "event", "media"),
        "media_waits": CopyOrigin("media_waits", by: "delivery", as: ["route": "shape"]),
        "inapp_messages": CopyOrigin("inapp_messages", by: "id", as: ["user_id": "user", "device_id": "device"]),
        "inapp_tallies": CopyOrigin("inapp_tallies", by: "message"),
        "inapp_users": CopyOrigin("inapp_users", by: "id"),
        // Node 0 is none: the first node that looks takes the due times.
        "inapp_devices": CopyOrigin("inapp_devices", by: "id", as: ["user_id": "user", "node": "0"]),
        "inapp_offers": CopyOrigin("inapp_offers", by: "id", as: ["user_id": "user"]),
        "inapp_kept": CopyOrigin(
            "inapp_totals", by: "kind", "owner", "what", "name", where: "what = 0", as: ["message": "name"]),
        "ended": CopyOrigin(deliveries, by: "id", where: "state <> 'waiting'"),
        "queue": CopyOrigin(deliveries, by: "id", where: "state = 'waiting'"),
        "attempts": CopyOrigin("attempts", by: "delivery", "number"),
        // Rows of no node are counted like those of each node.
        "ledger": CopyOrigin("ledger", by: "destination", as: ["node": "0", "lane": "0"]),
    ]
}
