import SignalboxInApp
import SignalboxJSON
import SignalboxNotification

// Candidates and their checks, as the engine explains them.

extension JSONWriter {
    /// The members `candidates` and, if there were more than an explanation lists, `omitted`.
    mutating func candidates(_ candidates: [Candidate], omitted: Int) {
        array("candidates", of: candidates) { json, candidate in
            json.beginObject()
            json.member("message", candidate.message)
            json.member("revision", candidate.revision)
            json.member("result", candidate.result.rawValue)
            json.array("checks", of: candidate.checks) { json, check in
                json.beginObject()
                json.member("code", check.code.rawValue)
                json.member("ok", flag: check.ok)
                json.member("expected", check.readable(check.expected))
                json.member("actual", check.readable(check.actual))
                json.member("until", at: check.until)
                json.member("source", check.source)
                json.endObject()
            }
            json.endObject()
        }
        if omitted > 0 { member("omitted", omitted) }
    }
}

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
    private func hasTimes(_ text: String) -> Bool {
        switch code {
        case .scheduleNotStarted, .scheduleEnded, .embargo, .moment, .timeout, .reEligibility: true
        case .priorityLost: text.hasPrefix("due ") || text.hasPrefix("registered ")
        default: false
        }
    }
}
