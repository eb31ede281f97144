import SignalboxGateway
import SignalboxJSON
import SignalboxNotification

/// Captures in responses. Absent members are unknown, or do not apply to the push.
extension JSONWriter {
    /// Writes one capture as an object. `isWhole`: whether the object has the event. `hidesContent`: whether the event
    /// lacks its texts. `token` is the keyed hash of the device, as in events.
    mutating func capture(_ capture: Capture, in log: CaptureLog, isWhole: Bool = true, hidesContent: Bool = false) {
        object { json in
            let addressee = capture.knownAddressee
            json.member("cursor", log.cursor(capture.number))
            json.member("time", capture.time)
            json.member("outcome", capture.outcome.rawValue)
            json.member("status", capture.status)
            json.member("reason", capture.reason)
            json.member("detail", capture.detail)
            json.member("platform", capture.service.rawValue)
            json.member("source", capture.source?.name)
            json.member("run", capture.run)
            json.member("token", addressee.token)
            json.member("topic", addressee.topic)
            json.member("condition", addressee.condition)
            json.member("channel", addressee.channel)
            json.member("project", addressee.project)
            json.member("apnsId", capture.apnsID)
            json.member("eventId", capture.eventID)
            guard isWhole, let event = hidesContent ? capture.event.flatMap(ContentMask.event) : capture.event
            else { return }
            json.member("event", raw: event)
        }
    }

    /// The objects of near misses: the capture without its event, and the reason. `hidesContent`: without the values.
    mutating func nearMisses(_ nearMisses: [CaptureNearMiss], in log: CaptureLog, hidesContent: Bool) {
        objects("nearMisses", of: nearMisses) { json, nearMiss in
            if !hidesContent { json.member("reason", nearMiss.mismatch.words) }
            json.member("condition", nearMiss.mismatch.condition)
            if !hidesContent {
                json.member("expected", nearMiss.mismatch.expected)
                json.member("actual", nearMiss.mismatch.actual)
            }
            json.key("capture")
            json.capture(nearMiss.capture, in: log, isWhole: false)
        }
    }
}
