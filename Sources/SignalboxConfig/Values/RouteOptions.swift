package import SignalboxJSON
package import SignalboxNotification

/// A route as the config declares it. SignalboxRouting compiles its pattern and its templates.
package struct RouteOptions: Sendable, Equatable {
    /// Where in the config it is.
    package let location: ConfigLocation
    package var name = ""
    /// The event pattern, as written; nil only while the config has errors.
    package var match: JSONText?
    package var destinations: [DestinationName] = []
    /// Ends the list for the events that match.
    package var stop = false
    /// Parts of an event's schedule that do not count here.
    package var ignoring: ScheduleParts = []
    package var including: EventParts = []
    package var media: RouteMedia = .link
    /// When false, it is as if it were not there.
    package var isEnabled = true
    /// The share of matching events that it takes, from 0 to 1; nil for all.
    package var sample: Double?
    /// When it takes events; nil for always.
    package var window: RouteWindow?
    /// What its destinations do not get to see.
    package var redactions: [Redaction] = []
    /// What its destinations get instead of the event's data.
    package var transform: Transform?

    /// What is wrong with a field that a pattern has twice.
    package static let repeatedField = "this field stands here twice; remove one"

    /// What is done with the values under a pointer into the event, in which `*` means every element of an array.
    package struct Redaction: Sendable, Equatable {
        package let pointer: JSONPointer
        package let action: RedactionAction
        package let location: ConfigLocation
    }

    package enum Transform: Sendable, Equatable {
        case template(TemplateSource)
        case map([DataField])
    }
}

/// What is done with a value that a route redacts.
package enum RedactionAction: String, Sendable, CaseIterable {
    /// The member or element is not there.
    case drop
    /// Of a text only about how long it is, of anything else only what it is.
    case mask
    /// A name in place of the value, the same for equal values: keyed, so that nobody finds the value by trying.
    case hash
}

/// A member of the data that a route's map makes.
package struct DataField: Sendable, Equatable {
    package let name: String
    package let source: Source

    package init(name: String, source: Source) {
        self.name = name
        self.source = source
    }

    package indirect enum Source: Sendable, Equatable {
        /// What is there in the event; when nothing is, the member is left out.
        case pointer(JSONPointer)
        case object([DataField])
    }
}

/// The text of a Mustache template, not yet checked.
package struct TemplateSource: Sendable, Equatable {
    /// Largest template, in bytes.
    package static let sizeLimit = 64 * 1024

    package var body: String
    /// Media type of what the template makes; values are escaped for it.
    package var contentType = "application/json"
    /// The option that holds the template or names its file.
    package var location: ConfigLocation
    /// The file it was read from; nil for a template in the config itself.
    package var file: String?
}

/// Parts of an event's schedule.
package struct ScheduleParts: OptionSet, Sendable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }

    package static let notBefore = ScheduleParts(rawValue: 1)
    package static let notAfter = ScheduleParts(rawValue: 2)
}

/// What an event can carry beside the notification.
package struct EventParts: OptionSet, Sendable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }

    /// The APNs payload as it should be shown.
    package static let apns = EventParts(rawValue: 1)
}
