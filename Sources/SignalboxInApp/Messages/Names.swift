/// Milliseconds since 1970 UTC, by the server's clock. Times of a device's clock never have this type.
package typealias Instant = Int64

/// A length of time in milliseconds.
package typealias Span = Int64

/// Chosen by the vendor or by the client that registers the message.
package typealias MessageID = String
/// Unguessable: a client reports with it.
package typealias OfferID = String
/// The app's own name of an installation.
package typealias DeviceID = String
/// The app's own name of a person, the same on all devices.
package typealias UserID = String
/// The vendor's name in lower case, as in events: `braze`, `synerise`.
package typealias Vendor = String

extension String {
    /// Whether both texts have the same bytes of UTF-8, as stores compare them. Equal strings need not: "é" may be one
    /// scalar or two.
    package func hasBytes(of other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

/// Bounds of one input. A value beyond its bound is rejected with a code; the engine never truncates.
package enum Bounds {
    /// Bytes of an id, a name or a keyword in UTF-8.
    package static let nameLength = 256
    /// Bytes of a property's text or a pattern in UTF-8.
    package static let textLength = 1024
    /// Properties of one event.
    package static let properties = 100
    package static let listElements = 100
    package static let triggersPerMessage = 50
    package static let filterGroups = 50
    /// Milliseconds of a re-eligibility: a hundred years, so that its end is a time that every store can keep.
    package static let reEligibility: Span = 36_600 * 86_400_000
    package static let conditionsPerGroup = 50
    /// Work of the messages that one event concerns, in units of about 100 ns (``MessageIndex/excess(of:)``).
    package static let workPerTrigger = 20_000
    package static let limitsPerMessage = 20
    /// Instructions of one compiled text pattern.
    package static let patternSize = 500
    /// The highest count of a limit with a window. The history keeps every display of the window, so the limit is
    /// exact.
    package static let limitCount = 1000
    package static let labelsPerPage = 200
    /// Slots of one device that hold a message. Further ones end those of the oldest pages.
    package static let slots = 400
    /// Waiting messages of one device; a further one ends the oldest.
    package static let stack = 20
    /// Delayed messages of one device.
    package static let delayed = 50
    /// Trigger ids that a device's row keeps to recognise repeats.
    package static let answers = 32
    /// Past triggers that a device's row keeps for late definitions (Airship: at most 100).
    package static let replayedTriggers = 20
    /// Messages that an offer names for the case that the client cannot show it.
    package static let runnersUp = 5
    /// Leases of one user on other devices that a decision reads. Only a name that many people share has more; then
    /// no message with a limit or a re-eligibility of users is offered until some of them have ended.
    package static let leasesElsewhere = 50
    /// Ended offers of one device that are kept to recognise repeats.
    package static let endedOffers = 50
    /// Reports about one offer. Each is kept to recognise its repeats, so further clicks are rejected.
    package static let reports = 256
    /// Candidates that an explanation lists.
    package static let explained = 500
    /// History rows of one user or device before displays of one message are merged.
    package static let history = 512
    /// History rows of one user or device if they cannot be merged, because they are of different messages.
    package static let mostHistory = 2048
}
