import Foundation

/// The shell programs that run PostgreSQL for ``PostgresServer`` and PgBouncer for ``PgBouncer``. They are next to this
/// file.
enum PostgresProgram {
    /// Runs another program as an unprivileged user.
    static func asUnprivilegedUser() throws -> String { try text(of: "unprivileged.sh") }

    /// Runs a server until its input ends.
    static func server() throws -> String { try text(of: "server.sh") }

    /// Runs PgBouncer until its input ends.
    static func pooler() throws -> String { try text(of: "pooler.sh") }

    private static func text(of name: String) throws -> String {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        return try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
    }
}
