import HTTPTypes
import SignalboxConfig

// Rejected requests about failure rules.
extension Problem {
    /// The first mistake of a rule, with its location in the body.
    init(_ error: InvalidConfig) {
        let mistake = error.firstError
        let more = error.mistakes.count { $0.severity == .error } - 1
        let rest = more > 0 ? " (and \(more) more)" : ""
        self = .failureMalformed(mistake.pointer, mistake.message + rest)
    }

    /// `pointer`: a JSON Pointer into the body. `text`: without a full stop.
    static func failureMalformed(_ pointer: String, _ text: String) -> Problem {
        Problem(.badRequest, "failure-malformed", title: "The rule was not set", "\(text).", pointer: pointer)
    }

    /// `name`: as the client sent it.
    static func noFailure(_ name: String) -> Problem {
        unknown("failure-not-found", "failure rule of the API", name, in: "failures")
    }

    /// The limit of rules is reached. A rule of the same name can still be replaced.
    static let tooManyFailures = Problem(
        .conflict, "failures-full", title: "The rule was not set",
        "There are already \(FailureRule.most) failure rules: delete some.")
}
