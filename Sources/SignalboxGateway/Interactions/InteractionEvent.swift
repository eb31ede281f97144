import Foundation
import SignalboxJSON
import SignalboxNotification

/// The members are those of docs/reference/events.md.
extension JSONWriter {
    /// Writes the event of a tap, as the schema `urn:signalbox:schema:interaction:1` defines it. The order of the
    /// members is part of the event's bytes and does not change. Members without a value are left out. `source`: the
    /// path of the reporting source. `time`: when the gateway accepted the report; `deviceTime` is the time that the
    /// device states. `trace`: of the request; nil for none.
    mutating func interaction(
        _ decided: DecidedTap, id: EventID, source: String, at time: Date, trace: RequestTrace? = nil
    ) {
        let tap = decided.tap
        cloudEvent(
            InteractionIntake.eventType, id: id, source: source, subject: tap.notification.subject, at: time,
            schema: "interaction:1",
            attributes: { json in
                if let trace { json.traceAttributes(of: trace, event: id) }
            }
        ) { json in
            json.object("notification") { $0.members(of: tap.notification, id: tap.interaction.eventID) }
            json.member("actionIdentifier", tap.interaction.choice.identifier)
            json.member("title", tap.title)
            json.object("action") { $0.actionMembers(tap.action) }
            if let options = tap.options { json.options(options) }
            json.member("text", tap.interaction.text)
            json.member("deviceTime", tap.interaction.deviceTime.text)
            json.member("activity", tap.activity?.rawValue)
            json.outcome(of: decided)
        }
    }

    /// Writes the result of a tap as members: `presentation`, `outcome`, `problems`, `snooze`, `media`. `isRepeat`:
    /// the tap was reported before, and the snooze of that report applies. Events and HTTP replies share it, so both
    /// describe a tap alike. A repeated report omits `snooze`, because its own times would be wrong. `problems` is
    /// absent when there are none.
    package mutating func outcome(of decided: DecidedTap, isRepeat: Bool = false) {
        member("presentation", decided.tap.presentation?.rawValue)
        member("outcome", decided.outcome.word)
        if !decided.problems.isEmpty {
            objects("problems", of: decided.problems) { json, problem in
                json.member("code", problem.code.rawValue)
                json.member("message", problem.message)
            }
        }
        switch decided.outcome {
        case .passed, .refused: break
        case .snoozed(let minutes, let until, let event):
            guard !isRepeat else { return }
            object("snooze") { json in
                json.member("minutes", minutes)
                json.member("until", Timestamp(until).text)
                json.member("eventId", event.description)
            }
        case .rendered(let media):
            objects("media", of: [media]) { json, media in
                json.member("role", "calendar")
                json.member("status", Media.Status.stored.rawValue)
                json.member("contentType", CalendarFile.contentType)
                json.member("bytes", media.bytes)
                json.member("sha256", media.sha256)
                json.member("href", media.href)
            }
        }
    }

    /// Writes the result of an earlier report with the members of ``outcome(of:isRepeat:)``.
    package mutating func outcome(of former: FormerOutcome) {
        member("presentation", former.presentation)
        member("outcome", former.outcome)
        member("problems", former.problems)
        member("snooze", former.snooze)
        member("media", former.media)
    }

    /// Members of the notification's event that a receiver needs to match the tap with a campaign. `campaign` and
    /// `target` are copied as they are in that event, with the hashed token.
    private mutating func members(of notification: TappedNotification, id: String) {
        member("id", id)
        member("vendor", notification.vendor)
        member("kind", notification.kind)
        member("platform", notification.platform)
        member("time", notification.time)
        member("campaign", notification.campaign)
        member("target", notification.target)
        member("tag", notification.tag)
    }
}
