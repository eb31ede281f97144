import SignalboxInApp
import SignalboxJSON
import SignalboxNotification

// Candidates and their checks, as the engine explains them.

/// Only in answers that were requested with `explain`, and in explanations.
extension JSONWriter {
    /// The members `candidates` and, if there were more than an explanation lists, `omitted`.
    /// The best candidate comes first. `checks` lists every check of it, passed or not, in the order in which the
    /// engine makes them. `source` names the rule of the vendor or of the config that the check applies.
    mutating func candidates(_ candidates: [Candidate], omitted: Int) {
        objects("candidates", of: candidates) { json, candidate in
            json.member("message", candidate.message)
            json.member("revision", candidate.revision)
            json.member("result", candidate.result.rawValue)
            json.objects("checks", of: candidate.checks) { json, check in
                json.member("code", check.code.rawValue)
                json.member("ok", check.ok)
                json.member("expected", check.readable(check.expected))
                json.member("actual", check.readable(check.actual))
                json.member("until", at: check.until)
                json.member("source", check.source)
            }
        }
        if omitted > 0 { member("omitted", omitted) }
    }
}

/// Texts of checks for people.
extension Check {
    /// The engine's texts have times in milliseconds since 1970; people read RFC 3339.
    fileprivate func readable(_ text: String) -> String {
        guard hasTimes(text) else { return text }
        return text.split(separator: " ", omittingEmptySubsequences: false).map { word in
            guard word.utf8.count >= 12, let instant = Int64(word), let time = Timestamp(milliseconds: instant) else {
                return String(word)
            }
            return time.text
        }.joined(separator: " ")
    }

    /// Whether the numbers of a text are times. Texts of other checks may have ids of messages and names.
    /// A number in another text, such as an id, must not become a time.
    private func hasTimes(_ text: String) -> Bool {
        switch code {
        case .scheduleNotStarted, .scheduleEnded, .embargo, .moment, .timeout, .reEligibility: true
        case .priorityLost: text.hasPrefix("due ") || text.hasPrefix("registered ")
        default: false
        }
    }
}
