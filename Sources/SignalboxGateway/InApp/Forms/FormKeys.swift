/// The members that the forms know, in the order in which they are written. The JSON Schema of messages lists the same
/// ones; a test compares them.
package enum FormKeys {
    /// Members of a message.
    /// `vendor` and `kind` are required; `triggers` too, unless the vendor has a default.
    package static let message: [StaticString] = [
        "vendor", "kind", "campaign", "triggers", "unless", "rank", "delay", "timeout", "interval", "reEligibility",
        "schedule", "limits", "namedLimits", "requires", "blocking", "exempt", "test", "pair", "experiment", "smart",
        "asksApp", "renderTimeout", "address", "content", "action",
    ]
    /// Members of a message's `schedule`.
    package static let schedule: [StaticString] = ["start", "end"]
    /// Members of an element of `limits`.
    package static let limit: [StaticString] = ["count", "per", "window", "zone"]
    /// Of `requires`.
    package static let requirements: [StaticString] = [
        "orientation", "template", "assets", "screens", "topics", "lacksImage",
    ]
    /// Of `pair`.
    package static let pair: [StaticString] = ["key", "role", "marker"]
    /// Members of `address`, which has exactly one of them.
    package static let address: [StaticString] = ["user", "device"]
    /// Members of a property that is a date.
    package static let date: [StaticString] = ["date"]
    /// Members of a filter's condition, in addition to the comparison.
    package static let condition: [StaticString] = ["property", "type"]
    /// A condition has exactly one of them.
    /// `unsupported` stands for a comparison of a vendor that the gateway does not know; it never holds.
    package static let comparisons: [StaticString] = [
        "equals", "notEquals", "greaterThan", "atLeast", "lessThan", "atMost", "oneOf", "noneOf", "containsAll",
        "matches", "notMatches", "exists", "before", "after", "unsupported",
    ]

    /// The members of a message's trigger, besides `type`.
    /// A member of another type is unknown, and so a fault.
    package static func trigger(_ type: TriggerType) -> [StaticString] {
        switch type {
        case .sessionStart, .immediate, .test: []
        case .pushOpen: ["campaign"]
        case .event: ["name", "filter"]
        case .purchase: ["product", "filter"]
        case .messageClick: ["message", "button"]
        case .screen: ["name"]
        case .rule: ["keyword"]
        case .slot: ["name", "productId", "sku"]
        }
    }

    /// The words of a message's trigger in `type`.
    package enum TriggerType: String, CaseIterable, Sendable {
        /// The raw values are those of the form.
        case sessionStart, pushOpen, event, purchase, messageClick, screen, rule, slot, immediate, test
    }
}
