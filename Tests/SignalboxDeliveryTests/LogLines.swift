import Logging
import Synchronization

/// The log, so that a test can wait for a line. A class because the logger and the test share it.
final class LogLines: Sendable {
    private let lines = Mutex<[String]>([])

    func waitFor(_ beginning: String) async {
        while !lines.withLock({ $0.contains { $0.hasPrefix(beginning) } }), !Task.isCancelled {
            await Task.yield()
        }
    }

    func count(of line: String) -> Int { lines.withLock { $0.count { $0 == line } } }

    /// A logger that writes here, under any label.
    var logger: Logger { Logger(label: "test") { _ in Handler(lines: self) } }

    struct Handler: LogHandler {
        let lines: LogLines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.debug
        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { lines.lines.withLock { $0.append(event.message.description) } }
    }
}
