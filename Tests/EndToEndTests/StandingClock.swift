import Foundation
import Testing

/// The wall clock of a gateway, which stands still until the test sets it. So a test meets a time to the millisecond
/// and never sleeps. Monotonic clocks run.
struct StandingClock: Sendable {
    /// For the gateway's process.
    let environment: [String: String]
    private let file: String

    private static let source = Bundle.module.url(forResource: "Fixtures/clock", withExtension: "c")
    /// The compiler of the Swift toolchain, or another one.
    private static let compiler = ["clang", "cc", "gcc"].first { name in
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return path.split(separator: ":").contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(name)") }
    }
    /// Whether the library can be made here.
    static let isAvailable = compiler != nil

    /// Makes the library in `directory`, which must be empty. `time`: RFC 3339.
    init(in directory: String, at time: String) throws {
        let library = directory + "/clock.so"
        file = directory + "/clock"
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            try #require(Self.compiler), "-shared", "-fPIC", "-o", library, try #require(Self.source).path,
        ]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        try Data(count: 8).write(to: URL(fileURLWithPath: file))
        environment = ["LD_PRELOAD": library, "SIGNALBOX_TEST_CLOCK": file]
        try set(time)
    }

    /// Sets the clock, which may go back.
    func set(_ time: String) throws {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: time.contains("."))
        let milliseconds = (try Date(time, strategy: style).timeIntervalSince1970 * 1000).rounded()
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: file))
        try handle.write(contentsOf: withUnsafeBytes(of: Int64(milliseconds) * 1_000_000) { Data($0) })
        try handle.close()
    }
}
