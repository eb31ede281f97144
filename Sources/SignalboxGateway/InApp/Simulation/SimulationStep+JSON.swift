import SignalboxInApp
import SignalboxJSON

/// The output of `signalbox inapp simulate --json`, one line for each step. Members are absent if they do not apply.
extension SimulationStep {
    /// A decision as one compact JSON object: its cause, the answer with every candidate and check as the endpoints
    /// give it, and the events. Without content and action of messages.
    package var json: [UInt8] {
        .jsonObject(capacity: 1024) { json in
            json.member("line", line)
            json.member("at", at: at)
            json.member("device", device)
            json.member("user", user)
            cause(&json)
            json.member("problem", problem)
            if let bytes = answerBytes { json.member("answer", raw: bytes) }
            json.objects("events", of: records) { json, record in
                json.member("type", InAppEvent.type(of: record))
                json.member("message", record.offer?.message)
                json.member("offer", record.offer?.id)
                json.member("detail", record.detail)
                json.member("flags", list: record.flags)
            }
        }
    }

    /// The members that say what the line asked for.
    private func cause(_ json: inout JSONWriter) {
        switch action {
        case .trigger(let event):
            json.key("event")
            json.event(event)
        case .outcome(let outcome, let reference):
            json.member("outcome", outcome.word)
            json.member("offer", reference)
        case .slots(let page): json.member("page", page)
        case .message, .withdraw, .policy, .time: break
        }
    }

    /// The body of the endpoint's answer; nil for a step that has none.
    private var answerBytes: [UInt8]? {
        switch action {
        case .trigger: answer.map { AnswerForm.write($0, explain: true) { _ in nil } }
        case .outcome: answer.map { AnswerForm.write(report: $0, about: reported) { _ in nil } }
        case .slots: placed.map { AnswerForm.write($0, explain: true) { _ in nil } }
        case .message, .withdraw, .policy, .time: nil
        }
    }
}
