package import SignalboxConfig
import SignalboxJSON
import SignalboxNotification
package import SignalboxRouting

/// The failure rules of a config, applied to recorded payloads in the order of the recording. The counters begin at 0,
/// so the same recording has the same failures each time, and those that the endpoints make of the same pushes in the
/// same order.
package struct RecordedFailures: Sendable {
    private var decider: FailureDecider
    /// The rules in the order of evaluation.
    private let entries: [FailureDecider.Entry]

    /// `rules`: of a config, in its order.
    package init(_ rules: [PreparedFailure]) {
        decider = FailureDecider(rules)
        entries = decider.entries
    }

    /// The rules of a config, for a run without a gateway. `hash`: the hash of the events of the run.
    package init(_ selectors: [FailureSelector], hashedBy hash: TokenHash) {
        self.init(selectors.map { PreparedFailure($0, hashedBy: hash) })
    }

    /// The counters by the name of the rule, for a later process of the run. Unknown names are ignored.
    package var counts: [String: FailureDecider.Counts] {
        get { decider.counts }
        set { decider.counts = newValue }
    }

    /// The ids of the rules that select a recorded payload. Callable from any thread. `event`: of the payload.
    func selecting(_ event: JSONValue, from source: SourceName) -> [Int] {
        guard !entries.isEmpty else { return [] }
        var work = MatchWork()
        return entries.selecting(FailureSubject(event: event, from: source), event, work: &work).map(\.id)
    }

    /// Counts a payload that the rules with these ids select. Returns its rejection if a rule answers it with a
    /// failure. Delays and effects on connections do not apply to recordings; such a rule only counts. Call it in the
    /// order of the recording.
    mutating func decide(_ selecting: [Int], at place: PayloadPosition) -> Rejection? {
        guard !selecting.isEmpty, let rule = decider.decide(selecting), rule.answer != nil else { return nil }
        return Rejection(.failureRule, at: place, "The failure rule \"\(rule.name)\" answers it \(rule.answerWords).")
    }

    /// The counts of all rules, a line each with its line end, or a JSON object by name; empty without rules.
    package func report(json: Bool) -> String {
        guard !entries.isEmpty else { return "" }
        guard json else {
            return decider.entries.map { entry in
                "failure rule \(entry.rule.name): took \(entry.taken) of \(entry.selected) selected\n"
            }.joined()
        }
        let line = [UInt8].jsonLine { json in
            json.object("failures") { json in
                for entry in decider.entries {
                    json.key(entry.rule.name)
                    json.object { json in
                        json.member("selected", entry.selected)
                        json.member("taken", entry.taken)
                    }
                }
            }
        }
        return String(decoding: line, as: UTF8.self)
    }
}

extension FailureRule {
    /// The answer of the rule, as a clause: `with 429 TooManyRequests`.
    package var answerWords: String {
        guard let answer else { return "as usual" }
        if let reason = answer.reason { return "with \(reason.status) \(reason.word)" }
        return answer.status.map { "with \($0)" } ?? "with a failure"
    }
}
