import Dispatch
import Foundation
import SignalboxTesting

/// A real PostgreSQL server on a free port of the loopback interface, with a directory of its own. When the last
/// reference is gone, or the tests end or are killed, the server stops and its directory is removed. A class because it
/// owns the process.
package final class PostgresServer: Sendable {
    /// How the server keeps its files.
    package enum Disk: Sendable, Equatable {
        /// Without fsync: commits are lost only with the machine.
        case fast
        /// As PostgreSQL does by default.
        case durable
        /// Durable, in a file system of this size that ``fill()`` fills. Only root may mount it.
        case small(mebibytes: Int)
    }

    /// PostgreSQL could not be started or stopped; `reason` includes the last line of its log.
    package struct Failure: Error, CustomStringConvertible {
        let command: String
        let reason: String
        package var description: String { "PostgreSQL for tests: \(command): \(reason)" }
    }

    /// Whether this process may start a server with a small disk.
    package static let canLimitDisks = geteuid() == 0

    /// The port on 127.0.0.1. Stays the same after a crash.
    package let port: Int
    /// Commands go out, answers come in.
    private let commands: Int32
    private let program: pid_t
    private let queue = DispatchQueue(label: "signalbox.tests.postgres")

    /// The connection string of the only user. It needs no password.
    package var url: String { Self.url(port: port) }

    /// The connection string for another port, such as a proxy's.
    package static func url(port: Int) -> String { "postgres://signalbox@127.0.0.1:\(port)/postgres" }

    // MARK: Start

    /// A fast server that all tests of a process share, started by the first caller. `SIGNALBOX_TEST_POSTGRES` names
    /// another one by its connection string.
    package static func sharedURL() async throws -> String {
        if let url = ProcessInfo.processInfo.environment["SIGNALBOX_TEST_POSTGRES"], !url.isEmpty { return url }
        return try await shared.value.url
    }

    // A task, so that callers wait for the first one.
    private static let shared = Task { try await start(.fast) }

    /// Starts a server and returns once it accepts connections. Throws if PostgreSQL is not installed.
    package static func start(_ disk: Disk = .durable, settings: [String] = []) async throws -> PostgresServer {
        try await start(disk, settings, primary: nil)
    }

    /// Starts a standby that copies this server and follows it, and returns once it accepts reads. `port`: of a proxy
    /// in front of this server; nil for none. The standby connects as `standby`, for `synchronous_standby_names`.
    package func startStandby(through port: Int? = nil, settings: [String] = []) async throws -> PostgresServer {
        try await Self.start(.durable, settings, primary: port ?? self.port)
    }

    private static func start(
        _ disk: Disk, _ settings: [String], primary: Int?
    ) async throws -> PostgresServer {
        var last: any Error = Failure(command: "start", reason: "no port was tried")
        for _ in 0..<5 {
            // Below the ports that the kernel gives to connections, so that a restarted server finds it free again.
            let server = try PostgresServer(disk, port: Int.random(in: 15_000..<32_000), settings, primary: primary)
            do {
                try await server.start()
                return server
            } catch { last = error }
        }
        throw last
    }

    private init(_ disk: Disk, port: Int, _ settings: [String], primary: Int?) throws {
        self.port = port
        // The path of a socket must be short, and users other than root must reach it.
        let home = "/tmp/signalbox-postgres-\(UInt32.random(in: 0 ... .max))-\(port)"
        try FileManager.default.createDirectory(
            atPath: home, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        var ends: [Int32] = [0, 0]
        // No other program inherits an end: the server stops when the tests have closed their end.
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw POSIXError(.EMFILE) }
        let null = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { for end in [ends[1], null] { close(end) } }
        var words = ["sh", "-c", try PostgresProgram.asUnprivilegedUser(), "sh", try PostgresProgram.server()]
        if case .small(let size) = disk {
            words = ["unshare", "--mount", "--propagation", "private"] + words + ["\(size)m"]
        } else {
            words.append("")
        }
        words += [home, "\(port)", primary.map(String.init) ?? ""]
        words += (Self.settings(of: disk) + settings).flatMap { ["-c", $0] }
        program = try SpawnedProcess.start(
            "/usr/bin/env", ["setsid"] + words, in: nil, environment: ProcessInfo.processInfo.environment,
            descriptors: [ends[1], ends[1], null])
        commands = ends[0]
    }

    private static func settings(of disk: Disk) -> [String] {
        // Checks open many stores at once, each with some ten connections.
        let all = ["max_connections=600", "shared_buffers=64MB", "max_wal_size=256MB"]
        return switch disk {
        case .fast: all + ["fsync=off", "full_page_writes=off"]
        case .durable: all
        case .small: ["max_connections=100", "shared_buffers=16MB", "max_wal_size=32MB", "min_wal_size=32MB"]
        }
    }

    deinit {
        close(commands)
        // Not awaited: the program removes everything by itself.
        let program = program
        DispatchQueue.global().async { _ = SpawnedProcess.wait(for: program) }
    }

    // MARK: Faults

    /// Starts the server again; returns at once if it runs.
    package func start() async throws { try await obey("start") }

    /// Makes a standby accept writes; returns once it does.
    package func promote() async throws { try await obey("promote") }

    /// Kills all processes of the server at once, as when its machine loses power.
    package func crash() async throws { try await obey("crash") }

    /// Ends all connections and stops the server.
    package func stop() async throws { try await obey("stop") }

    /// Fills a small disk to the last byte.
    package func fill() async throws { try await obey("fill") }

    /// Undoes ``fill()``.
    package func free() async throws { try await obey("free") }

    private func obey(_ command: String) async throws {
        let answer = await withCheckedContinuation { (done: CheckedContinuation<String, Never>) in
            queue.async { done.resume(returning: self.exchange(command)) }
        }
        guard answer == "ok" else { throw Failure(command: command, reason: answer) }
    }

    /// Sends a line and returns the next one.
    private func exchange(_ command: String) -> String {
        let line = Array("\(command)\n".utf8)
        guard send(commands, line, line.count, Int32(MSG_NOSIGNAL)) == line.count else {
            return "its program has ended"
        }
        return PostgresProgram.line(from: commands)
    }
}
