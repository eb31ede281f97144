package import SignalboxJSON
import SignalboxNotification
package import SignalboxStore

/// Deliveries as the operations API and the command line show them. Times are RFC 3339 in UTC.
extension JSONWriter {
    /// Writes one delivery as an object. `wait`: why it has not been sent. `attempts`: to list with it; nil for none.
    /// Absent values have no member. `due` is written for waiting deliveries only. Members of the last attempt, such
    /// as `status` and `reason`, are members of the delivery itself; `log` has all attempts. `attempts` is a number
    /// that includes attempts that a crash interrupted. `hidesReply`: leaves out the replies, and hides the reasons
    /// that may quote them, because a receiver may repeat texts of the event. `blockedBy` summarises `waitingFor`.
    package mutating func delivery(
        _ record: DeliveryRecord, wait: DeliveryWait? = nil, attempts: [AttemptRecord]? = nil, hidesReply: Bool = false
    ) {
        object { json in
            json.member("id", record.id)
            json.member("event", record.event)
            json.member("subject", record.subject)
            json.member("destination", record.destination.name)
            json.member("state", record.state.rawValue)
            json.member("attempts", record.attempts)
            if record.isManual { json.member("manual", true) }
            json.member("acceptedAt", record.acceptedAt)
            if record.state == .waiting { json.member("due", record.due) }
            json.member("notBefore", record.notBefore)
            if record.notAfter == .afterFirstAttempt {
                json.member("once", true)
            } else {
                json.member("notAfter", record.notAfter)
            }
            if let wait {
                json.member("blockedBy", wait.blockedBy?.rawValue)
                json.object("waitingFor") { json in
                    json.member("reason", wait.reason.rawValue)
                    json.member("until", wait.until)
                    json.member("detail", wait.detail.map { hidesReply ? ContentMask.hidden : $0 })
                }
            }
            if let last = record.last { json.members(of: last, hidesReply: hidesReply) }
            if let attempts { json.array("log", of: attempts) { $0.attempt($1, hidesReply: hidesReply) } }
        }
    }

    /// Writes one attempt as an object. Durations are in milliseconds. The excerpt of the reply is decoded as UTF-8,
    /// with replacement characters. The record of an interrupted attempt has a number, an error and a reason only.
    package mutating func attempt(_ attempt: AttemptRecord, hidesReply: Bool = false) {
        object { json in
            json.member("attempt", attempt.number)
            json.members(of: attempt, hidesReply: hidesReply)
            if let exchange = attempt.exchange { json.exchange(exchange, of: attempt, hidesReply: hidesReply) }
        }
    }

    /// Writes `request` and `response`, as far as they are recorded. `hidesReply`: without the values of the response.
    /// Leaves out a record that is not JSON; the other members still describe the attempt.
    private mutating func exchange(_ exchange: [UInt8], of attempt: AttemptRecord, hidesReply: Bool) {
        _ = JSONParser.read(exchange) { root in
            if let request = root["request"] {
                key("request")
                value(request)
            }
            guard let response = root["response"] else { return }
            object("response") { json in
                if let status = attempt.status { json.member("status", status) }
                json.object("headers") { json in
                    guard let headers = response["headers"] else { return }
                    for (name, value) in headers.members {
                        json.key(utf8: name)
                        if hidesReply { json.string(ContentMask.hidden) } else { json.value(value) }
                    }
                }
                if !attempt.excerpt.isEmpty, !hidesReply {
                    json.member("body", String(decoding: attempt.excerpt, as: UTF8.self))
                }
            }
        }
    }

    /// Writes into the open object. An attempt without a response has no status. `reply` has at most the first
    /// kilobyte of the reply's body.
    private mutating func members(of attempt: AttemptRecord, hidesReply: Bool) {
        member("startedAt", attempt.startedAt)
        if let duration = attempt.duration { member("durationMs", duration) }
        if let status = attempt.status { member("status", status) }
        member("error", attempt.error)
        member("reason", attempt.reason.map { hidesReply ? ContentMask.hidden : $0 })
        member("remote", attempt.remote)
        if !attempt.excerpt.isEmpty, !hidesReply { member("reply", String(decoding: attempt.excerpt, as: UTF8.self)) }
    }
}

/// Lines of JSON, for commands. Without line ends.
extension DeliveryRecord {
    /// The object of the operations API. `wait`: nil leaves out `blockedBy` and `waitingFor`.
    package func json(_ wait: DeliveryWait?) -> String {
        String(decoding: [UInt8].json { $0.delivery(self, wait: wait) }, as: UTF8.self)
    }
}

extension AttemptRecord {
    /// The object of the operations API.
    package var json: String { String(decoding: [UInt8].json { $0.attempt(self) }, as: UTF8.self) }
}
