/// A validated message. A class, because indexes by several triggers share it; it never changes.
package final class Definition: Sendable {
    /// As registered.
    package let message: Message
    /// The rules of the message's vendor, or the default rules for an unknown vendor.
    let rules: VendorRules
    /// Whether a limit of the message counts displays to every user.
    let hasCampaignLimit: Bool
    /// Whether a trigger needs an event of its own: the message is not a candidate of every event.
    let needsEvent: Bool
    /// The greatest cost of one evaluation, in units of about 100 ns: 10 for the message, 1 for each condition and
    /// each topic, and 12 for each instruction of a text pattern. Conditions of ``Message/unless`` count too.
    let weight: Int

    /// Throws the first value that is beyond a bound or contradicts another.
    package init(_ message: Message) throws(InputFault) {
        try Self.validate(message)
        self.message = message
        rules = VendorRules.of(message.vendor)
        hasCampaignLimit = message.limits.contains { $0.per == .everyone }
        needsEvent = message.triggers.contains { $0 != .immediate }
        weight =
            10 + (message.triggers + message.unless).reduce(0) { $0 + ($1.filter?.weight ?? 0) }
            + message.requirements.topics.reduce(0) { $0 + $1.count }
    }

    /// Whether it fills slots (Granify) instead of the screen.
    package var isInline: Bool { message.kind == .inline }

    /// Fields in the order of ``Message``; pointers are relative to the message.
    private static func validate(_ message: Message) throws(InputFault) {
        try InputFault.check(message.id, at: "/id")
        try InputFault.check(message.vendor, at: "/vendor")
        guard !message.triggers.isEmpty else { throw InputFault(.empty, "/triggers", "a message needs a trigger") }
        try validate(message.triggers, at: "/triggers")
        try validate(message.unless, at: "/unless")
        try InputFault.check(count: message.limits.count, atMost: Bounds.limitsPerMessage, at: "/limits")
        for (index, limit) in message.limits.enumerated() { try limit.validate(at: "/limits/\(index)") }
        try InputFault.check(count: message.namedLimits.count, atMost: Bounds.limitsPerMessage, at: "/namedLimits")
        guard (0...1000).contains(message.rank) else { throw InputFault(.outOfRange, "/rank", "0 to 1000") }
        for (value, name) in [
            (message.delay, "delay"), (message.timeout ?? 0, "timeout"), (message.interval ?? 0, "interval"),
        ] where !(0...366 * 86_400_000).contains(value) { throw InputFault(.outOfRange, "/" + name, "0 to 366 days") }
        if case .after(let span) = message.reEligibility, !(0...Bounds.reEligibility).contains(span) {
            throw InputFault(.outOfRange, "/reEligibility", "0 to 36,600 days")
        }
        try InputFault.check(
            count: message.requirements.assets.count, atMost: Bounds.listElements, at: "/requires/assets")
        try validate(topics: message.requirements.topics)
        let hasSlot = message.triggers.contains { if case .slot = $0 { true } else { false } }
        guard hasSlot == (message.kind == .inline) else {
            throw InputFault(.contradictory, "/triggers", "inline messages, and only they, have slot triggers")
        }
        guard message.kind != .inline || message.namedLimits.isEmpty else {
            throw InputFault(.contradictory, "/namedLimits", "inline messages obey limits of their own only")
        }
    }

    private static func validate(topics: [[String]]) throws(InputFault) {
        try InputFault.check(count: topics.count, atMost: Bounds.filterGroups, at: "/requires/topics")
        for (index, group) in topics.enumerated() {
            let pointer = "/requires/topics/\(index)"
            guard !group.isEmpty else { throw InputFault(.empty, pointer, "a group must have at least one topic") }
            try InputFault.check(count: group.count, atMost: Bounds.conditionsPerGroup, at: pointer)
            for (position, topic) in group.enumerated() {
                try InputFault.check(topic, at: "\(pointer)/\(position)")
                guard topic != "!" else { throw InputFault(.empty, "\(pointer)/\(position)", "no topic after !") }
            }
        }
    }

    private static func validate(_ triggers: [MessageTrigger], at pointer: String) throws(InputFault) {
        try InputFault.check(count: triggers.count, atMost: Bounds.triggersPerMessage, at: pointer)
        for (index, trigger) in triggers.enumerated() {
            try trigger.filter?.validate(at: "\(pointer)/\(index)/filter")
            switch trigger {
            case .event(let name, _), .screen(let name), .rule(let name):
                try InputFault.check(name, at: "\(pointer)/\(index)/name")
            case .messageClick(let message, _): try InputFault.check(message, at: "\(pointer)/\(index)/message")
            case .slot(let label): try InputFault.check(label.name, at: "\(pointer)/\(index)/name")
            case .sessionStart, .pushOpen, .purchase, .immediate, .test: break
            }
        }
    }
}
