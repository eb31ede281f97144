import SignalboxConfig
package import SignalboxNotification
import SignalboxRouting

/// The verdicts of failure rules on one payload, as if it were pushed to a provider endpoint. Changes no count.
package struct FailureTrial: Sendable, Equatable {
    /// The verdict of one rule.
    package struct Verdict: Sendable, Equatable {
        package let name: String
        /// True for a rule of the API, false for one of the config.
        package let isFromAPI: Bool
        /// The option that keeps the rule from selecting the payload; nil if it selects it.
        package let mismatch: String?
        /// The pushes that it selected so far.
        package let selected: Int
        /// Whether it is the rule's turn: it would take the payload if it were the next push.
        package let isDue: Bool
        /// The effects of the rule, as a clause.
        package let effects: String
    }

    /// In the order of evaluation.
    package let verdicts: [Verdict]

    /// `entries`: in the order of evaluation. `event`: the bytes of the payload's event; there are no verdicts on one
    /// that cannot be read.
    package init(_ entries: [FailureDecider.Entry], on event: [UInt8], from source: SourceName) {
        guard !entries.isEmpty, let document = EventDocument(event) else {
            verdicts = []
            return
        }
        verdicts = document.withRoot { root, _ in
            var work = MatchWork()
            let subject = FailureSubject(event: root, from: source)
            return entries.map { entry in
                var mismatch = entry.prepared.mismatch(subject)
                if mismatch == nil, !entry.prepared.matches(root, work: &work) { mismatch = "match" }
                return Verdict(
                    name: entry.rule.name, isFromAPI: entry.isFromAPI, mismatch: mismatch, selected: entry.selected,
                    isDue: entry.rule.takes(entry.selected + 1), effects: entry.rule.effectWords)
            }
        }
    }

    /// One line for each rule, for people.
    package var lines: [String] {
        verdicts.map { verdict in
            guard let mismatch = verdict.mismatch else {
                return "\(verdict.name): yes, \(verdict.effects)" + (verdict.isDue ? ", also the next push" : "")
            }
            return "\(verdict.name): no, \(mismatch) differs"
        }
    }
}

extension FailureRule {
    /// The effects of the rule and the pushes that have them, as a clause.
    fileprivate var effectWords: String {
        var words: [String] = []
        if answer != nil { words.append("answered " + answerWords) }
        if let delay { words.append("delayed by \(delay.text)") }
        if let connection { words.append("connection \(connection.rawValue)") }
        let text = words.joined(separator: ", ")
        var which: [String] = []
        if let every { which.append("one of \(every)") }
        if let first { which.append("the first \(first)") }
        if after > 0 { which.append("after \(after)") }
        return which.isEmpty ? text : text + " (\(which.joined(separator: ", ")))"
    }
}
