import HTTPTypes
import SignalboxConfig
import SignalboxGateway
import SignalboxJSON

// Rejected requests about captures.
extension Problem {
    /// An empty list would look as if no push had come.
    static let capturesOff = Problem(
        .conflict, "captures-off", title: "Captures are switched off",
        "The config keeps no captures: set gateway.captures.count to more than 0.")
    /// 408: the request was fine and too few pushes arrived.
    static func captureTimeout(_ found: Int, of count: Int, in time: Duration) -> Problem {
        Problem(
            .requestTimeout, "capture-timeout", title: "Too few pushes arrived",
            "\(found) of \(count) pushes came within \(time.text). nearMisses has the newest others with the first "
                + "condition that each of them does not meet.")
    }

    /// `pointer`: the location of the mistake in the body. `position`: its line and column, which become strings; nil
    /// leaves both members out.
    static func captureBody(_ detail: String, at pointer: String, _ position: TextPosition? = nil) -> Problem {
        Problem(.badRequest, "capture-body-malformed", title: "Invalid request body", detail, pointer: pointer)
            .with(position)
    }

    /// Always 503 with a `retry-after` of one second.
    init(_ failure: CaptureWait.Failure) {
        switch failure {
        case .tooManyWaits: self = .capturesBusy("\(CaptureLog.mostWaits) waits are in progress: wait again later.")
        case .tooMuchMemory:
            self = .capturesBusy("The captures of all waits take too much memory: wait for fewer captures.")
        case .cancelled:
            self.init(
                .serviceUnavailable, "captures-stopping", title: "The wait ended",
                "The gateway is stopping, or the client ended its side of the connection: wait again. A restart begins "
                    + "with no captures.",
                headers: [.retryAfter: "1"])
        }
    }

    private static func capturesBusy(_ detail: String) -> Problem {
        Problem(
            .serviceUnavailable, "captures-busy", title: "The wait was not accepted", detail,
            headers: [.retryAfter: "1"])
    }
}
