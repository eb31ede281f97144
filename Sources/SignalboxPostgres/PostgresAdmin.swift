package import SignalboxStore

/// Statements that tests and measurements run on their own.
package struct PostgresAdmin {
    private let connection: PostgresConnection

    /// Connects, and blocks meanwhile. Throws ``StoreError/unreachable(reason:)`` for a database that does not answer.
    package init(_ target: PostgresTarget) throws(StoreError) {
        do { connection = try PostgresConnection(target) } catch { throw StoreError(error) }
    }

    /// Runs one statement. `sql`: never contains input. In a transaction of its own; its rows are dropped. Blocks.
    package func run(_ sql: String) throws(StoreError) {
        do { _ = try connection.run(sql) } catch { throw StoreError(error) }
    }
}
