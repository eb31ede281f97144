import Foundation
package import SignalboxJSON
import SignalboxNotification
package import SignalboxStore

extension JSONWriter {
    /// Writes one delivery as an object. `wait`: why it has not been sent. `attempts`: to list with it; nil for none.
    package mutating func delivery(
        _ record: DeliveryRecord, wait: DeliveryWait? = nil, attempts: [AttemptRecord]? = nil
    ) {
        beginObject()
        key("id")
        integer(record.id)
        key("event")
        string(record.event)
        key("subject")
        string(record.subject)
        key("destination")
        string(record.destination.name)
        key("state")
        string(record.state.rawValue)
        key("attempts")
        integer(record.attempts)
        time("acceptedAt", record.acceptedAt)
        if record.state == .waiting { time("due", record.due) }
        time("notBefore", record.notBefore)
        time("notAfter", record.notAfter)
        if let wait { write(wait) }
        if let last = record.last { write(last) }
        if let attempts {
            key("log")
            beginArray()
            for attempt in attempts { self.attempt(attempt) }
            endArray()
        }
        endObject()
    }

    /// One attempt as an object.
    package mutating func attempt(_ attempt: AttemptRecord) {
        beginObject()
        key("attempt")
        integer(attempt.number)
        write(attempt)
        endObject()
    }

    private mutating func write(_ wait: DeliveryWait) {
        key("waitingFor")
        beginObject()
        key("reason")
        string(wait.reason.rawValue)
        time("until", wait.until)
        if let detail = wait.detail {
            key("detail")
            string(detail)
        }
        endObject()
    }

    mutating func time(_ name: StaticString, _ date: Date?) {
        guard let date else { return }
        key(name)
        string(Timestamp(date).text)
    }

    private mutating func write(_ attempt: AttemptRecord) {
        time("startedAt", attempt.startedAt)
        if let duration = attempt.duration {
            key("durationMs")
            integer(duration)
        }
        if let status = attempt.status {
            key("status")
            integer(status)
        }
        for (name, text): (StaticString, String?) in [
            ("error", attempt.error), ("reason", attempt.reason), ("remote", attempt.remote),
        ] {
            guard let text else { continue }
            key(name)
            string(text)
        }
        if !attempt.excerpt.isEmpty {
            key("reply")
            string(String(decoding: attempt.excerpt, as: UTF8.self))
        }
    }
}
