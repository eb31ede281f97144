/// An event that brings a message.
package enum MessageTrigger: Sendable, Hashable {
    /// The app begins a session.
    case sessionStart
    /// Without a campaign, any push.
    case pushOpen(campaign: String?)
    /// The app's own event. Names compare exactly.
    case event(name: String, filter: Filter?)
    /// Without a product, any purchase.
    case purchase(product: String?, filter: Filter?)
    /// Without a button, any click.
    case messageClick(message: MessageID, button: String?)
    /// The app shows this screen.
    case screen(String)
    /// A keyword of an MCE message's `rules`.
    case rule(String)
    /// A Granify slot; see ``SlotRequest``.
    case slot(SlotLabel)
    /// No event: the message is a candidate of every request of the device.
    case immediate
    /// A test send.
    case test

    /// Whether the trigger matches, and for an explanation the filter's group that failed. `rules` are of the
    /// message's vendor.
    func outcome(of reader: inout EventReader, _ rules: VendorRules) -> Filter.Outcome {
        switch self {
        case .event(let name, let filter):
            guard name == reader.name else { return .otherEvent }
            return filter?.outcome(of: &reader, strict: rules.hasStrictFilters) ?? .matches
        case .purchase(let product, let filter):
            guard case .purchase(let other, _) = reader.event, product == nil || product == other else {
                return .otherEvent
            }
            if product == nil && rules.anyPurchaseIgnoresFilter { return .matches }
            return filter?.outcome(of: &reader, strict: rules.hasStrictFilters) ?? .matches
        default: return matchesWithoutFilter(reader.event) ? .matches : .otherEvent
        }
    }

    /// Triggers that have no filter. A message without an event is not shown by a request for another one.
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

    /// Nil for kinds that have none.
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
