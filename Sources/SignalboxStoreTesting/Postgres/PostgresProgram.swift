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

    /// The next line of a program, without its end. Blocks.
    static func line(from descriptor: Int32) -> String {
        var answer: [UInt8] = []
        var byte: UInt8 = 0
        while true {
            let count = read(descriptor, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { return "its program has ended" }
            guard byte != UInt8(ascii: "\n") else { return String(decoding: answer, as: UTF8.self) }
            answer.append(byte)
        }
    }

    private static func text(of name: String) throws -> String {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        return try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
    }
}
