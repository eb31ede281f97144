package import SignalboxJSON

/// An interaction together with the values of the notification's event.
package struct Tap: Sendable, Equatable {
    /// The report, with its choice settled.
    package let interaction: Interaction
    /// The values of the notification's event.
    package let notification: TappedNotification
    /// The effect of the tap.
    package let action: Action
    /// Title of the button; nil for the notification itself.
    package let title: String?
    /// Options of the button; nil for the notification itself.
    package let options: Category.Options?
    /// The reported place; for Synerise without a place, the place that follows from the kind.
    package let activity: Activity?
    /// The fate of the shown campaign; nil if the vendor has no rule for it.
    package let presentation: Activity.Presentation?

    /// Finds the action in the notification's event. A notification without an action opens the app.
    package init(_ interaction: Interaction, on event: EventDocument) throws(InteractionMistake) {
        self = try event.withRoot { (root, _) throws(InteractionMistake) in try Tap(interaction, in: root) }
    }

    /// Throws for an event that is not a notification, and for a button that it does not have. Names at most 20
    /// buttons.
    private init(_ interaction: Interaction, in event: JSONValue) throws(InteractionMistake) {
        guard event["type"]?.string == TappedNotification.type, let data = event["data"],
            let notification = TappedNotification(event)
        else { throw .notANotification(interaction.eventID) }
        let buttons = data["category"]?["actions"].map { Array($0.elements) } ?? []
        let interaction = interaction.choosing(among: buttons.compactMap { $0["identifier"]?.string })
        (self.interaction, self.notification) = (interaction, notification)
        switch interaction.choice {
        case .body:
            action = data["action"].flatMap { Action($0) } ?? Action(.openApp)
            (title, options) = (nil, nil)
        case .dismissal:
            action = Action(.dismiss)
            (title, options) = (nil, nil)
        case .button(let identifier):
            guard let button = buttons.first(where: { $0["identifier"]?.utf8?.elementsEqual(identifier.utf8) == true }),
                let action = Action(button)
            else {
                throw .unknownAction(identifier, known: buttons.prefix(20).compactMap { $0["identifier"]?.string })
            }
            self.action = action
            title = button["title"]?.string
            options = Category.Options(names: button["options"])
        }
        // Only Synerise specifies the fate of a campaign.
        let isSynerise = notification.vendor == "synerise"
        activity = interaction.activity ?? (isSynerise ? Activity(kind: notification.kind) : nil)
        presentation = isSynerise ? activity?.presentation : nil
    }
}

/// The values of the notification's event that the interaction's event repeats.
package struct TappedNotification: Sendable, Equatable {
    /// CloudEvents' `type` of notifications.
    package static let type = "io.signalbox.notification.received"

    /// The id of its event; for a snoozed notification, that of the first event.
    package let firstID: String
    /// The `vendor` of the event's data.
    package let vendor: String
    /// The `kind` of the event's data, as text: another version may have written it.
    package let kind: String
    /// The `platform` of the event's data.
    package let platform: String
    /// `vendor/kind`.
    package let subject: String
    /// When the gateway accepted it.
    package let time: String
    /// A JSON object in the form of the event.
    package let campaign: JSONText?
    /// See ``PushNotification/tag``.
    package let tag: String?
    /// A JSON object in the form of the event.
    package let target: JSONText?
    /// The end of the period in which it may be shown.
    package let notAfter: Timestamp?

    /// Reads the event; nil if a required value is missing.
    fileprivate init?(_ event: JSONValue) {
        guard let data = event["data"], let vendor = data["vendor"]?.string, let kind = data["kind"]?.string,
            let platform = data["platform"]?.string, let time = event["time"]?.string, let id = event["id"]?.string
        else { return nil }
        firstID = event["snoozedfrom"]?.string ?? id
        (self.vendor, self.kind, self.platform, self.time) = (vendor, kind, platform, time)
        subject = event["subject"]?.string ?? vendor + "/" + kind
        campaign = data["campaign"].map { JSONText($0) }
        tag = data["tag"]?.string
        target = data["target"].map { JSONText($0) }
        notAfter = data["schedule"]?["notAfter"]?.utf8.flatMap { Timestamp(iso8601: $0) }
    }
}

extension Action {
    /// Reads the form of events; nil for an unknown type.
    fileprivate init?(_ value: JSONValue) {
        guard let type = value["type"]?.string.flatMap(ActionType.init(rawValue:)) else { return nil }
        self.init(
            type, value: value["value"]?.string, vendorType: value["vendorType"]?.string,
            arguments: value["arguments"].map { JSONText($0) })
    }
}

extension Category.Options {
    /// Reads the form of events.
    fileprivate init(names: JSONValue?) {
        let names = names?.elements.compactMap(\.string) ?? []
        self = Self.named.reduce(into: []) { if names.contains($1.name) { $0.insert($1.option) } }
    }
}
