import HTTPTypes
import SignalboxConfig

// Rejected requests about failure rules.
extension Problem {
    /// The first mistake of a rule, with its location in the body.
    init(_ error: InvalidConfig) {
        let mistake = error.mistakes.first { $0.severity == .error }
        let more = error.mistakes.count - 1
        let rest = more > 0 ? " (and \(more) more)" : ""
        self = .failureMalformed(mistake?.pointer ?? "", (mistake?.message ?? "The rule is invalid") + rest)
    }

    /// `pointer`: a JSON Pointer into the body. `text`: without a full stop.
    static func failureMalformed(_ pointer: String, _ text: String) -> Problem {
        Problem(.badRequest, "failure-malformed", title: "The rule was not set", "\(text).", pointer: pointer)
    }

    /// `name`: as the client sent it.
    static func noFailure(_ name: String) -> Problem {
        unknown("failure-not-found", "failure rule of the API", name, in: "failures")
    }

    /// A replacement of a known rule is possible.
    static let tooManyFailures = Problem(
        .conflict, "failures-full", title: "The rule was not set",
        "The API has \(FailureRule.most) failure rules already: delete some.")
}
