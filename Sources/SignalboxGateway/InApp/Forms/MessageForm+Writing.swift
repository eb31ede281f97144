import SignalboxInApp
import SignalboxJSON

/// The stored bytes of a message. A registration that has the same bytes as the stored one changes nothing, so they
/// depend on the message only.
extension MessageForm {
    /// The canonical bytes: compact JSON in UTF-8, members in a fixed order, members that equal their default left
    /// out. Equal forms have equal bytes, and ``read(_:id:revision:registeredAt:)`` reads an equal form from them.
    package func write() -> [UInt8] {
        let defaults = MessageDefaults(message.vendor)
        return .jsonObject(capacity: 512 + (content?.count ?? 0) + (action?.count ?? 0)) { json in
            json.member("vendor", message.vendor)
            json.member("kind", message.kind.rawValue)
            json.member("campaign", message.campaign)
            json.timing(of: message, defaults)
            json.limits(of: message, defaults)
            json.conditions(of: message, defaults)
            if let address {
                json.object("address") { json in
                    switch address {
                    case .user(let user): json.member("user", user)
                    case .device(let device): json.member("device", device)
                    }
                }
            }
            json.member("content", raw: content)
            json.member("action", raw: action)
        }
    }
}

/// The members of a message, by their subject. Each writes into the open object of the form.
extension JSONWriter {
    /// When the message may be shown: triggers, rank, delays, re-eligibility and schedule. An end that equals the
    /// vendor's default is left out, because it depends on the time of the registration.
    fileprivate mutating func timing(of message: Message, _ defaults: MessageDefaults) {
        if message.triggers != defaults.triggers { array("triggers", of: message.triggers) { $0.trigger($1) } }
        if !message.unless.isEmpty { array("unless", of: message.unless) { $0.trigger($1) } }
        if message.rank != 500 { member("rank", message.rank) }
        member("delay", span: message.delay == 0 ? nil : message.delay)
        member("timeout", span: message.timeout)
        member("interval", span: message.interval)
        if message.reEligibility != defaults.reEligibility {
            key("reEligibility")
            switch message.reEligibility {
            case .never: string("never" as StaticString)
            case .always: string("always" as StaticString)
            case .after(let span): self.span(span)
            }
        }
        let end = message.schedule.end == defaults.end(message.registeredAt) ? nil : message.schedule.end
        if message.schedule.start != nil || end != nil {
            object("schedule") { json in
                json.member("start", at: message.schedule.start)
                json.member("end", at: end)
            }
        }
    }

    /// How often the message may be shown.
    fileprivate mutating func limits(of message: Message, _ defaults: MessageDefaults) {
        if message.limits != defaults.limits { array("limits", of: message.limits) { $0.limit($1) } }
        member("namedLimits", list: message.namedLimits)
    }

    /// No member for an empty list.
    fileprivate mutating func member(topics groups: [[String]]) {
        if !groups.isEmpty { array("topics", of: groups) { $0.strings($1) } }
    }

    /// The screens and devices that may show the message.
    fileprivate mutating func conditions(of message: Message, _ defaults: MessageDefaults) {
        let needs = message.requirements
        if needs != Message.Requirements() {
            object("requires") { json in
                json.member("orientation", needs.orientation?.rawValue)
                json.member("template", needs.template)
                json.member("assets", list: needs.assets.sorted())
                json.member("screens", list: needs.screens.sorted())
                json.member(topics: needs.topics)
                json.member("lacksImage", needs.lacksImage ? true : nil)
            }
        }
        member("blocking", message.isBlocking ? true : nil)
        member("exempt", message.isExempt ? true : nil)
        member("test", message.isTest ? true : nil)
        if let pair = message.pair {
            object("pair") { json in
                json.member("key", pair.key)
                json.member("role", pair.role.rawValue)
                json.member("marker", pair.marker)
            }
        }
        member("experiment", message.experiment)
        member("smart", message.isSmart == defaults.isSmart ? nil : message.isSmart)
        member("asksApp", message.asksApp ? true : nil)
        member("renderTimeout", span: message.renderTimeout == defaults.renderTimeout ? nil : message.renderTimeout)
    }
}
