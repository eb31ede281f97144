import Logging
import Synchronization

@testable import SignalboxServer

/// Keeps log lines without their time and level.
final class LineLog: Sendable {
    // A class because the logger and the test share it.
    private let recorded = Mutex<[String]>([])

    var lines: [String] { recorded.withLock { $0 } }

    /// Logs the levels that a gateway logs by default.
    var logger: Logger { Logger(label: "test") { [self] _ in LineLogHandler { [self] in append($0) } } }

    private func append(_ line: String) {
        let text = line.split(separator: " ", maxSplits: 2).last ?? ""
        recorded.withLock { $0.append(String(text.dropLast())) }
    }
}

/// A clock that tests move.
final class MovedClock: Sendable {
    // A class because the code under test and the test share it.
    private let seconds = Atomic(0)
    private let start = ContinuousClock.now

    var now: ContinuousClock.Instant { start + .seconds(seconds.load(ordering: .relaxed)) }

    func advance(by count: Int) { seconds.add(count, ordering: .relaxed) }
}
