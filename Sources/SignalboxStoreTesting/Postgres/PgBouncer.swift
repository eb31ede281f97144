import Dispatch
import Foundation
import SignalboxTesting

/// PgBouncer in front of a PostgreSQL server, on a free port of the loopback interface, with a directory of its own. It
/// stops, and its directory is removed, with the last reference to it. A class because it owns the process.
package final class PgBouncer: Sendable {
    /// When a connection to the server goes back to the pool.
    package enum Mode: String, Sendable {
        /// After the connection of the client has ended.
        case session
        /// After each transaction.
        case transaction
    }

    /// PgBouncer could not be started; `reason` is the last line of its log.
    package struct Failure: Error, CustomStringConvertible {
        let reason: String
        package var description: String { "PgBouncer for tests: \(reason)" }
    }

    /// The port on 127.0.0.1.
    package let port: Int
    private let input: Int32
    private let program: pid_t

    /// Extracted by `make deps-test`, or installed.
    private static let places = [
        URL(fileURLWithPath: #filePath + "/../../../../.build/test-tools/pgbouncer").standardized.path,
        "/usr/sbin/pgbouncer",
    ]

    private static let place = places.first(where: FileManager.default.isExecutableFile)

    /// Whether its transaction mode supports prepared statements, as it does from version 1.21 on. False if it is not
    /// installed.
    package static let preparesInTransactions: Bool = {
        guard let place else { return false }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: place)
        process.arguments = ["--version"]
        let output = Pipe()
        process.standardOutput = output
        do { try process.run() } catch { return false }
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        // "PgBouncer 1.18.0"
        let version = text.split(whereSeparator: \.isWhitespace).dropFirst().first ?? ""
        return "1.21".compare(version, options: .numeric) != .orderedDescending
    }()

    /// Starts PgBouncer and returns once it accepts connections. `pool`: the most connections to the server.
    /// `settings`: lines of its config.
    package static func start(
        to server: PostgresServer, _ mode: Mode, pool: Int, settings: [String]
    ) async throws -> PgBouncer {
        var last: any Error = Failure(reason: "no port was tried")
        for _ in 0..<5 {
            let port = Int.random(in: 15_000..<32_000)
            do { return try PgBouncer(port, to: server.port, mode, pool: pool, settings) } catch { last = error }
        }
        throw last
    }

    private init(_ port: Int, to server: Int, _ mode: Mode, pool: Int, _ settings: [String]) throws {
        self.port = port
        let home = "/tmp/signalbox-pgbouncer-\(UInt32.random(in: 0 ... .max))-\(port)"
        try FileManager.default.createDirectory(
            atPath: home, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        guard let place = Self.place else {
            throw Failure(reason: "it is not installed; run: make deps-test")
        }
        // Copied, because the user that runs it may not read the folder of the tests.
        try FileManager.default.copyItem(
            atPath: URL(fileURLWithPath: place).resolvingSymlinksInPath().path, toPath: home + "/pgbouncer")
        try Data("\"signalbox\" \"\"\n".utf8).write(to: URL(fileURLWithPath: home + "/users"))
        let config = """
            [databases]
            * = host=127.0.0.1 port=\(server)
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = \(port)
            unix_socket_dir = \(home)
            auth_type = trust
            auth_file = \(home)/users
            pool_mode = \(mode.rawValue)
            default_pool_size = \(pool)
            max_client_conn = 300

            """
        let lines = settings.map { $0 + "\n" }.joined()
        try Data((config + lines).utf8).write(to: URL(fileURLWithPath: home + "/pgbouncer.ini"))
        var ends: [Int32] = [0, 0]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw POSIXError(.EMFILE) }
        let null = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { for end in [ends[1], null] { close(end) } }
        program = try SpawnedProcess.start(
            "/usr/bin/env",
            [
                "setsid", "sh", "-c", try PostgresProgram.asUnprivilegedUser(), "sh", try PostgresProgram.pooler(), "",
                home, "\(port)",
            ], in: nil, environment: ProcessInfo.processInfo.environment, descriptors: [ends[1], ends[1], null])
        input = ends[0]
        let answer = PostgresProgram.line(from: input)
        guard answer == "ok" else { throw Failure(reason: answer) }
    }

    deinit {
        close(input)
        // Not awaited: the program removes everything by itself.
        let program = program
        DispatchQueue.global().async { _ = SpawnedProcess.wait(for: program) }
    }
}
