import Foundation

/// A PostgreSQL server for measurements, with fsync, on a free port of the loopback interface. It stops, and its
/// directory is removed, when its input ends, also when this program is killed. A class because it owns the process.
final class BenchPostgres {
    private let process = Process()
    private let input = Pipe()
    /// The connection string of its only user. It needs no password.
    let url: String

    /// The programs with which the tests start servers, too.
    private static let programs = URL(fileURLWithPath: #filePath).appending(
        path: "../../../../Sources/SignalboxStoreTesting/Postgres"
    ).standardizedFileURL

    /// Returns once it accepts connections. Throws if PostgreSQL is not installed.
    init() throws {
        // Below the ports that the kernel gives to connections.
        let port = Int.random(in: 15_000..<32_000)
        // The path of a socket is short, and others than root must reach it.
        let home = "/tmp/signalbox-bench-postgres-\(port)"
        url = "postgres://signalbox@127.0.0.1:\(port)/postgres"
        try FileManager.default.createDirectory(
            atPath: home, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        let output = Pipe()
        let settings = ["max_connections=100", "shared_buffers=256MB", "max_wal_size=2GB"]
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        // The empty words: without a limit of the disk, and not a copy of another server.
        process.arguments =
            ["setsid", "sh", "-c", try Self.text(of: "unprivileged.sh"), "sh", try Self.text(of: "server.sh"), ""]
            + [home, "\(port)", ""] + settings.flatMap { ["-c", $0] }
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: Data("start\n".utf8))
        let answer = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard answer == "ok\n" else {
            print("  PostgreSQL: \(answer.trimmingCharacters(in: .newlines))")
            throw FailedProgram(command: ["postgres"], status: 1)
        }
    }

    private static func text(of name: String) throws -> String {
        try String(contentsOf: programs.appending(path: name), encoding: .utf8)
    }

    /// Returns when its directory is removed.
    func stop() throws {
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
