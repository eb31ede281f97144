/// An event while triggers and filters read it. It remembers the properties that were read, because the messages of one
/// event mostly ask for the same few.
struct EventReader {
    /// The event that is read.
    let event: TriggerEvent
    private let properties: [String: PropertyValue]?
    private var known: [(name: String, value: PropertyValue?)] = []
    /// More names than this are looked up each time.
    private static let remembered = 8

    /// Reads nothing yet.
    init(_ event: TriggerEvent) {
        self.event = event
        properties = event.properties
    }

    /// Whether the event has properties, be it none at all: Braze's filters tell that from an event without them.
    var hasProperties: Bool { properties != nil }

    /// The value of a property; nil if the event does not have it.
    mutating func value(of name: String) -> PropertyValue? {
        for property in known where property.name == name { return property.value }
        guard let value = properties?[name] else { return remember(nil, name) }
        return remember(value, name)
    }

    private mutating func remember(_ value: PropertyValue?, _ name: String) -> PropertyValue? {
        if known.count < Self.remembered { known.append((name, value)) }
        return value
    }
}
