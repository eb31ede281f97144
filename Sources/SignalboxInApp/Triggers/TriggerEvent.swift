/// An event in an app that may bring a message.
package enum TriggerEvent: Sendable, Hashable {
    /// The app begins a session.
    case sessionStart
    /// The user opened a push.
    case pushOpen(campaign: String?)
    /// Nil properties: the event has none, which Braze's filters tell from an empty set of conditions.
    case event(name: String, properties: [String: PropertyValue]?)
    /// The user bought a product, or an unnamed one.
    case purchase(product: String?, properties: [String: PropertyValue]?)
    /// The user clicked in a message that is shown: follow-ups need no interval.
    case messageClick(message: MessageID, button: String?)
    /// The app shows this screen. Equal to the screen before, it triggers no message: a return to the foreground is
    /// not a new view.
    case screen(String)
    /// An MCE rule keyword.
    case rule(String)
    /// A test send has arrived.
    case test
    /// The app asks for this message itself (Synerise `showBanner`, manual walkthroughs).
    case show(MessageID)
    /// The app asks whether a waiting message can be shown now. Matches messages that need no event.
    case poll

    /// The kinds of events. The raw values are the words of forms, records, explanations and rows.
    package enum Kind: String, Sendable, CaseIterable {
        case sessionStart, pushOpen, event, purchase, messageClick, screen, rule, test, show, poll
    }

    /// The kind of this event.
    package var kind: Kind {
        switch self {
        case .sessionStart: .sessionStart
        case .pushOpen: .pushOpen
        case .event: .event
        case .purchase: .purchase
        case .messageClick: .messageClick
        case .screen: .screen
        case .rule: .rule
        case .test: .test
        case .show: .show
        case .poll: .poll
        }
    }

    /// The event name, screen, keyword, product, campaign or message, if there is one.
    package var name: String? {
        switch self {
        case .pushOpen(let campaign): campaign
        case .event(let name, _), .screen(let name), .rule(let name), .show(let name): name
        case .purchase(let product, _): product
        case .messageClick(let message, _): message
        case .sessionStart, .test, .poll: nil
        }
    }

    /// The properties of an event or a purchase; nil for the other kinds and for an event without properties.
    package var properties: [String: PropertyValue]? {
        switch self {
        case .event(_, let properties), .purchase(_, let properties): properties
        default: nil
        }
    }
}

/// A typed value of an event's property.
package enum PropertyValue: Sendable, Hashable {
    case boolean(Bool)
    case number(Double)
    case text(String)
    case date(Instant)
    case list([PropertyValue])

    /// The type, as filters of Braze name it.
    package enum Kind: String, Sendable, Hashable { case boolean, number, text, date, list }

    /// The type of this value.
    package var kind: Kind {
        switch self {
        case .boolean: .boolean
        case .number: .number
        case .text: .text
        case .date: .date
        case .list: .list
        }
    }
}

/// A request of a device, with the event and the state of the client.
package struct TriggerRequest: Sendable, Hashable {
    /// Chosen by the client. A repeat gets the first answer.
    package var id: String?
    /// The device that asks.
    package var device: DeviceID
    /// Nil for an anonymous user.
    package var user: UserID?
    /// The event to decide about.
    package var event: TriggerEvent
    /// Replaces the state of the device's row.
    package var client: ClientState
    /// Evidence only: recognises repeats without an id, never decides.
    package var deviceTime: Instant?
    /// Names the offers of this decision; unique, and not to be guessed.
    package var ticket: String

    package init(
        id: String? = nil, device: DeviceID, user: UserID?, event: TriggerEvent, client: ClientState,
        deviceTime: Instant? = nil, ticket: String
    ) {
        (self.id, self.device, self.user, self.event) = (id, device, user, event)
        (self.client, self.deviceTime, self.ticket) = (client, deviceTime, ticket)
    }

    /// Equal for repeats of one request; nil if the request has neither an id nor a device time.
    package var repeatKey: String? {
        if let id { return id }
        guard let deviceTime else { return nil }
        var digest = Digest()
        digest.add(event.kind.rawValue)
        digest.add(event.name ?? "")
        digest.add(String(deviceTime))
        if case .messageClick(_, let button) = event { digest.add(button ?? "") }
        for (key, value) in (event.properties ?? [:]).sorted(by: { $0.key < $1.key }) {
            digest.add(key)
            digest.add("\(value)")
        }
        return "#" + String(digest.value, radix: 16)
    }

    /// Throws the first value that is empty or beyond its bound.
    package func validate() throws(InputFault) {
        try InputFault.check(id: device, at: "/device")
        if let user { try InputFault.check(user: user, at: "/user") }
        if let id { try InputFault.check(id, at: "/triggerId") }
        if let name = event.name { try InputFault.check(name, at: "/event/name") }
        if case .messageClick(_, let button?) = event { try InputFault.check(button, at: "/event/button") }
        try InputFault.check(event.properties ?? [:], at: "/event/properties")
        try client.validate()
    }
}
