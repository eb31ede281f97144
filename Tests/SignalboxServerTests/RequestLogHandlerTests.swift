import Logging
import Synchronization
import Testing

@testable import SignalboxServer

@Suite struct RequestLogHandlerTests {
    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
    }

    private struct Recorder: LogHandler {
        let lines: Lines
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level = .trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let words = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            lines.all.withLock {
                $0.append(([event.level.rawValue, event.message.description] + words).joined(separator: " "))
            }
        }
    }

    /// By the server's logger and by the one of a request.
    @Test func metadataIsLoggedWithWhatIsLogged() {
        let lines = Lines()
        var logger = Logger(label: "x") { _ in Recorder(lines: lines) }
        logger.logLevel = .notice
        let server = Logger(label: "x") { _ in RequestLogHandler(logger) }
        var request = server
        request[metadataKey: "id"] = "7"
        request[metadataKey: "a"] = "of the logger"
        server.notice("one")
        request.notice("two", metadata: ["a": "given"])
        request.info("not heard")
        #expect(lines.all.withLock(\.self) == ["notice one", "notice two a=given id=7"])
    }
}
