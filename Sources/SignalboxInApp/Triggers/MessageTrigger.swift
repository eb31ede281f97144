/// An event that brings a message.
package enum MessageTrigger: Sendable, Hashable {
    case sessionStart
    /// Without a campaign, any push.
    case pushOpen(campaign: String?)
    case event(name: String, filter: Filter?)
    /// Without a product, any purchase.
    case purchase(product: String?, filter: Filter?)
    /// Without a button, any click.
    case messageClick(message: MessageID, button: String?)
    case screen(String)
    /// A keyword of an MCE message's `rules`.
    case rule(String)
    /// A Granify slot; see ``SlotRequest``.
    case slot(SlotLabel)
    /// No event: the message is a candidate of every request of the device.
    case immediate
    case test

    /// Whether the trigger matches, and for an explanation the filter's group that failed. `rules` are of the
    /// message's vendor.
    func outcome(of reader: inout EventReader, _ rules: VendorRules) -> Filter.Outcome {
        switch (self, reader.event) {
        case (.event(let name, let filter), .event(let other, _)):
            guard name == other else { return .otherEvent }
            return filter?.outcome(of: &reader, strict: rules.hasStrictFilters) ?? .matches
        case (.purchase(let product, let filter), .purchase(let other, _)):
            guard product == nil || product == other else { return .otherEvent }
            if product == nil && rules.anyPurchaseIgnoresFilter { return .matches }
            return filter?.outcome(of: &reader, strict: rules.hasStrictFilters) ?? .matches
        default: return matchesWithoutFilter(reader.event) ? .matches : .otherEvent
        }
    }

    private func matchesWithoutFilter(_ event: TriggerEvent) -> Bool {
        switch (self, event) {
        case (.immediate, .show), (.immediate, .test): false
        case (.sessionStart, .sessionStart), (.test, .test), (.immediate, _): true
        case (.pushOpen(let campaign), .pushOpen(let other)): campaign == nil || campaign == other
        case (.messageClick(let message, let button), .messageClick(let other, let pressed)):
            message == other && (button == nil || button == pressed)
        case (.screen(let name), .screen(let other)), (.rule(let name), .rule(let other)): name == other
        default: false
        }
    }

    var filter: Filter? {
        switch self {
        case .event(_, let filter), .purchase(_, let filter): filter
        default: nil
        }
    }

    /// The key under which the index files this trigger.
    var key: TriggerKey {
        switch self {
        case .sessionStart: .sessionStart
        case .pushOpen(let campaign): .pushOpen(campaign)
        case .event(let name, _): .event(name)
        case .purchase(let product, _): .purchase(product)
        case .messageClick(let message, _): .messageClick(message)
        case .screen(let name): .screen(name)
        case .rule(let keyword): .rule(keyword)
        case .slot(let label): .slot(label.name)
        case .immediate: .immediate
        case .test: .test
        }
    }
}

/// Kind and name of a trigger, without its filter.
enum TriggerKey: Hashable, Sendable {
    case sessionStart, immediate, test
    case pushOpen(String?), purchase(String?)
    case event(String), messageClick(MessageID), screen(String), rule(String), slot(String)
}
