/// An event while triggers and filters read it. It remembers the properties that were read, because the messages of
/// one event mostly ask for the same few.
struct EventReader {
    /// The event that is read.
    let event: TriggerEvent
    /// The name of an app's own event; nil for every other kind.
    let name: String?
    private let properties: [String: PropertyValue]?
    private var known: [Known] = []
    /// More names than this are looked up each time.
    private static let remembered = 4

    private struct Known {
        let name: String
        let value: PropertyValue?
    }

    /// Reads nothing yet.
    init(_ event: TriggerEvent) {
        self.event = event
        name = if case .event(let name, _) = event { name } else { nil }
        properties = event.properties
    }

    /// Whether the event has properties, even if there are none of them: Braze's filters tell that from an event
    /// without properties.
    var hasProperties: Bool { properties != nil }

    /// The value of a property; nil if the event does not have it.
    mutating func value(of name: String) -> PropertyValue? {
        for index in known.indices where known[index].name == name { return known[index].value }
        let value = properties?[name]
        if known.isEmpty { known.reserveCapacity(Self.remembered) }
        if known.count < Self.remembered { known.append(Known(name: name, value: value)) }
        return value
    }
}
