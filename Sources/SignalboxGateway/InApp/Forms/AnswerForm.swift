package import SignalboxInApp
import SignalboxJSON

/// The answers of the in-app endpoints, as compact JSON in UTF-8. Members without a value are left out, so `{}` means:
/// show no message now. `SignalboxServer/OpenAPI/Schemas/inapp-answers.json` has the JSON Schemas of the answers.
/// Writers do not fail: every value was checked when it was read.
package enum AnswerForm {
    /// The form of a message; nil if it is not known.
    /// Called at most once for each offer of an answer.
    package typealias Lookup = (SignalboxInApp.MessageID) -> MessageForm?

    /// The answer to a trigger. `explain`: with every candidate. `form`: the form of an offered message; its content
    /// and action are left out for nil.
    package static func write(_ answer: Answer, explain: Bool, form: Lookup) -> [UInt8] {
        .jsonObject(capacity: 1024) { json in
            json.member("offer", answer.offer, form)
            json.member("nextCheck", at: answer.nextCheck)
            guard explain else { return }
            // The engine does not decide a second time.
            json.member("repeat", answer.isRepeat ? true : nil)
            json.candidates(answer.candidates, omitted: answer.omitted)
        }
    }

    /// The answer to a report about an offer: the offer's state, and the offer that follows, if there is one.
    /// `offer`: the reported offer after the report; nil if it is no longer kept.
    package static func write(report answer: Answer, about offer: Offer?, form: Lookup) -> [UInt8] {
        .jsonObject(capacity: 1024) { json in
            json.member("state", offer?.state.word)
            json.member("reason", offer?.reason)
            json.member("offer", answer.offer, form)
            json.member("nextCheck", at: answer.nextCheck)
        }
    }

    /// The answer to a page of slots, in the order of the request; `explain` as for triggers.
    package static func write(_ decision: SlotDecision, explain: Bool, form: Lookup) -> [UInt8] {
        .jsonObject(capacity: 1024) { json in
            json.objects("slots", of: decision.slots) { json, slot in
                json.members(of: slot.label)
                json.member("offer", slot.offer, form)
                json.member("error", slot.error)
                json.member("warning", slot.warning)
                if explain { json.candidates(slot.candidates, omitted: 0) }
            }
            json.member("error", decision.error)
            json.member("nextCheck", at: decision.decision.answer.nextCheck)
        }
    }

    /// The answer to a hypothetical question: the time of the decision, the offer without a lease, every
    /// candidate, and the events that would be recorded.
    package static func write(explanation decision: Decision, form: Lookup) -> [UInt8] {
        .jsonObject(capacity: 1024) { json in
            json.member("at", at: decision.now)
            if let offer = decision.answer.offer {
                json.object("offer") { json in json.message(of: offer, form(offer.message)) }
            }
            json.member("nextCheck", at: decision.answer.nextCheck)
            json.candidates(decision.answer.candidates, omitted: decision.answer.omitted)
            json.objects("events", of: decision.records) { json, record in
                json.member("type", InAppEvent.type(of: record))
                json.member("message", record.offer?.message)
                json.member("detail", record.detail)
                json.member("flags", list: record.flags)
            }
        }
    }
}

/// The words of states, which clients see.
extension Offer.State {
    /// For answers and events.
    package var word: String {
        switch self {
        case .triggered: "triggered"
        case .waiting: "waiting"
        case .ready: "ready"
        case .offered: "offered"
        case .shown: "shown"
        case .done: "done"
        case .discarded: "discarded"
        case .expired: "expired"
        case .held: "held"
        }
    }
}

/// The reports that a client may send about an offer.
extension Offer {
    /// The outcomes that the client may report about this offer.
    /// In a fixed order. A report with another outcome is rejected.
    fileprivate var outcomes: [ReportForm.Outcome] {
        ReportForm.Outcome.allCases.filter { outcome in
            switch outcome {
            // A mandatory message ends only by a click; a slot has no stack.
            case .dismissed: !flags.contains(.blocking)
            case .later, .undo, .orientation: kind != .inline
            default: true
            }
        }
    }
}

// MARK: Members

extension JSONWriter {
    /// No member for nil. `id` is for reports, and only the device that received it knows it. `leaseUntil` is the
    /// time until which the client must report `shown`, or it loses the offer.
    fileprivate mutating func member(_ name: StaticString, _ offer: Offer?, _ form: AnswerForm.Lookup) {
        guard let offer else { return }
        object(name) { json in
            json.member("id", offer.id)
            json.member("leaseUntil", at: offer.leaseUntil)
            json.message(of: offer, form(offer.message))
            // Ask the app before the display; if it declines, report `discard`.
            json.member("asksApp", offer.flags.contains(.asksApp) ? true : nil)
            json.member("flags", list: offer.flags.names)
            json.member("report", list: offer.outcomes.map(\.rawValue))
        }
    }

    /// The member `message`: everything that a client needs to show it.
    /// Content and action are absent if the message was removed after the decision.
    fileprivate mutating func message(of offer: Offer, _ form: MessageForm?) {
        object("message") { json in
            json.member("id", offer.message)
            // Of the content: the message may have changed since it was offered.
            json.member("revision", form?.message.revision ?? offer.revision)
            json.member("vendor", offer.vendor)
            json.member("kind", offer.kind.rawValue)
            json.member("campaign", form?.message.campaign)
            json.member("template", form?.message.requirements.template)
            json.member("assets", list: form?.message.requirements.assets.sorted() ?? [])
            json.member("blocking", offer.flags.contains(.blocking) ? true : nil)
            json.member("renderTimeout", span: form?.message.renderTimeout)
            json.member("content", raw: form?.content)
            json.member("action", raw: form?.action)
        }
    }

    /// `code` is stable; `detail` is a sentence for people.
    fileprivate mutating func member(_ name: StaticString, _ problem: SlotAnswer.Problem?) {
        guard let problem else { return }
        object(name) { json in
            json.member("code", problem.rawValue)
            json.member("detail", problem.detail)
        }
    }
}

/// Mistakes of a page are part of the answer: the other slots are filled nevertheless.
extension SlotAnswer.Problem {
    /// The mistake and the remedy.
    fileprivate var detail: String {
        switch self {
        case .duplicateLabel: "Two slots of this page have the same label: give each its own name."
        case .productMissing: "A slot on a product page needs productId."
        case .skuWithoutProduct: "sku needs productId."
        case .notDisplayable: "The client cannot display an inline in this slot."
        case .unknownName: "The config does not declare this name: check the spelling, or add it to inapp.slotNames."
        case .unknownLabel: "The override names a label that this page does not have."
        }
    }
}
