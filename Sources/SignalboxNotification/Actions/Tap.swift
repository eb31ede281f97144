package import SignalboxJSON

/// An interaction together with what the notification's event says of it.
package struct Tap: Sendable, Equatable {
    package let interaction: Interaction
    package let notification: TappedNotification
    package let action: Action
    /// Of the button.
    package let title: String?
    /// Of the button; nil for a tap on the notification itself.
    package let options: Category.Options?
    package let activity: Activity?
    /// What becomes of what is shown; nil where the vendor has no rule for it.
    package let presentation: Activity.Presentation?

    /// Finds the action in the notification's event. A notification without an action of its own opens the app.
    package init(_ interaction: Interaction, on event: JSONValue) throws(InteractionMistake) {
        guard event["type"]?.string == TappedNotification.type, let data = event["data"],
            let notification = TappedNotification(event)
        else { throw .notANotification(interaction.eventID) }
        let buttons = data["category"]?["actions"].map { Array($0.elements) } ?? []
        let interaction = interaction.choosing(among: buttons.compactMap { $0["identifier"]?.string })
        self.interaction = interaction
        self.notification = notification
        switch interaction.choice {
        case .body:
            action = data["action"].flatMap { Action($0) } ?? Action(.openApp)
            (title, options) = (nil, nil)
        case .dismissal:
            action = Action(.dismiss)
            (title, options) = (nil, nil)
        case .button(let identifier):
            guard let button = buttons.first(where: { $0["identifier"]?.string == identifier }),
                let action = Action(button)
            else {
                throw .unknownAction(identifier, known: buttons.prefix(20).compactMap { $0["identifier"]?.string })
            }
            self.action = action
            title = button["title"]?.string
            options = Category.Options(names: button["options"])
        }
        // Only Synerise says what is to become of what it shows.
        let isSynerise = notification.vendor == "synerise"
        activity = interaction.activity ?? (isSynerise ? Activity(kind: notification.kind) : nil)
        presentation = isSynerise ? activity?.presentation : nil
    }
}

/// What an interaction repeats of the notification that was tapped.
package struct TappedNotification: Sendable, Equatable {
    /// CloudEvents' `type` of notifications.
    package static let type = "io.signalbox.notification.received"

    /// Of its event; of the event that it is the return of, where it was put off.
    package let firstID: String
    package let vendor: String
    package let kind: String
    package let platform: String
    /// `vendor/kind`.
    package let subject: String
    /// When the gateway accepted it.
    package let time: String
    /// An object, as the event has it.
    package let campaign: JSONText?
    package let tag: String?
    /// An object, as the event has it.
    package let target: JSONText?
    /// From then on it is not to be shown any more.
    package let notAfter: Timestamp?

    fileprivate init?(_ event: JSONValue) {
        guard let data = event["data"], let vendor = data["vendor"]?.string, let kind = data["kind"]?.string,
            let platform = data["platform"]?.string, let time = event["time"]?.string, let id = event["id"]?.string
        else { return nil }
        firstID = event["snoozedfrom"]?.string ?? id
        self.vendor = vendor
        self.kind = kind
        self.platform = platform
        self.time = time
        subject = event["subject"]?.string ?? vendor + "/" + kind
        campaign = data["campaign"].map { JSONText($0) }
        tag = data["tag"]?.string
        target = data["target"].map { JSONText($0) }
        notAfter = data["schedule"]?["notAfter"]?.utf8.flatMap { Timestamp(iso8601: $0) }
    }
}

extension Action {
    /// As an event spells it; nil for what has no known type.
    fileprivate init?(_ value: JSONValue) {
        guard let type = value["type"]?.string.flatMap(ActionType.init(rawValue:)) else { return nil }
        self.init(
            type, value: value["value"]?.string, vendorType: value["vendorType"]?.string,
            arguments: value["arguments"].map { JSONText($0) })
    }
}

extension Category.Options {
    /// As an event spells them.
    fileprivate init(names: JSONValue?) {
        let names = names?.elements.compactMap(\.string) ?? []
        self = Self.named.reduce(into: []) { if names.contains($1.name) { $0.insert($1.option) } }
    }
}
