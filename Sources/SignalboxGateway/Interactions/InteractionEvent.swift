import Foundation
import SignalboxJSON
import SignalboxNotification

extension JSONWriter {
    /// Writes the event of a tap, as the schema `urn:signalbox:schema:interaction:1` defines it.
    mutating func interaction(_ decided: DecidedTap, id: EventID, source: String, at time: Date) {
        cloudEvent(
            InteractionIntake.eventType, id: id, source: source, subject: decided.tap.notification.subject, at: time,
            schema: "interaction:1"
        ) { json in
            let tap = decided.tap
            json.tapped(tap.notification, id: tap.interaction.eventID)
            json.key("actionIdentifier")
            json.string(tap.interaction.choice.identifier)
            json.member("title", tap.title)
            json.key("action")
            json.beginObject()
            json.actionMembers(tap.action)
            json.endObject()
            if let options = tap.options { json.options(options) }
            json.member("text", tap.interaction.text)
            json.member("deviceTime", tap.interaction.deviceTime.text)
            json.member("activity", tap.activity?.rawValue)
            json.outcome(of: decided)
        }
    }

    /// Writes the result of a tap as members: `presentation`, `outcome`, `problems`, `snooze`, `media`. `isRepeat`:
    /// the tap was reported before, and the snooze of that report applies.
    package mutating func outcome(of decided: DecidedTap, isRepeat: Bool = false) {
        member("presentation", decided.tap.presentation?.rawValue)
        member("outcome", decided.outcome.word)
        if !decided.problems.isEmpty { problems(decided.problems) }
        switch decided.outcome {
        case .passed, .refused: break
        case .snoozed(let minutes, let until, let event): if !isRepeat { snooze(minutes, until, event) }
        case .rendered(let media): calendar(media)
        }
    }

    private mutating func tapped(_ notification: TappedNotification, id: String) {
        key("notification")
        beginObject()
        member("id", id)
        member("vendor", notification.vendor)
        member("kind", notification.kind)
        member("platform", notification.platform)
        member("time", notification.time)
        member("campaign", notification.campaign)
        member("target", notification.target)
        member("tag", notification.tag)
        endObject()
    }

    private mutating func problems(_ problems: [ActionProblem]) {
        key("problems")
        beginArray()
        for problem in problems {
            beginObject()
            member("code", problem.code.rawValue)
            member("message", problem.message)
            endObject()
        }
        endArray()
    }

    private mutating func snooze(_ minutes: Int, _ until: Date, _ event: EventID) {
        key("snooze")
        beginObject()
        key("minutes")
        integer(minutes)
        member("until", Timestamp(until).text)
        key("eventId")
        id(event)
        endObject()
    }

    private mutating func calendar(_ media: TapOutcome.CalendarMedia) {
        key("media")
        beginArray()
        beginObject()
        member("role", "calendar")
        member("status", Media.Status.stored.rawValue)
        member("contentType", CalendarFile.contentType)
        key("bytes")
        integer(media.bytes)
        member("sha256", media.sha256)
        member("href", media.href)
        endObject()
        endArray()
    }
}
