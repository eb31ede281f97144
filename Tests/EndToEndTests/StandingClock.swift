import Foundation

/// The wall clock of a gateway, which stands still until the test sets it. So a test meets a time to the millisecond
/// and never sleeps. Monotonic clocks run.
struct StandingClock: Sendable {
    /// For the gateway's process.
    let environment: [String: String]
    private let file: String

    /// Makes the library in `directory`, which must be empty. `time`: RFC 3339.
    init(in directory: String, at time: String) throws {
        let library = try ClockLibrary.make(in: directory)
        file = directory + "/clock"
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
