package import SignalboxJSON

/// The effect of a tap, on the notification or on one of its buttons.
package struct Action: Sendable, Equatable {
    /// The effects that events name; any other effect is `custom`, with the vendor's word in ``Action/vendorType``.
    package enum ActionType: String, Sendable, CaseIterable {
        case openApp, openUrl, deepLink, dial, calendar, snooze, passbook, webView, showActions, richContent, dismiss
        case reply, custom
    }

    /// The effect in vendor-neutral terms.
    package var type: ActionType
    /// A URL, a phone number, an identifier or minutes, according to the type.
    package var value: String?
    /// The vendor's own word for the type.
    package var vendorType: String?
    /// The vendor's other parameters of the action: a JSON object.
    package var arguments: JSONText?

    /// `arguments`: a JSON object.
    package init(_ type: ActionType, value: String? = nil, vendorType: String? = nil, arguments: JSONText? = nil) {
        (self.type, self.value, self.vendorType, self.arguments) = (type, value, vendorType, arguments)
    }
}

/// A set of action buttons: `UNNotificationCategory` on Apple's platforms.
package struct Category: Sendable, Equatable {
    /// The author of the buttons.
    package enum Origin: String, Sendable, CaseIterable {
        /// The payload defines the buttons.
        case dynamic
        /// The app defines the buttons; the payload only names the category.
        case `static`
    }

    /// The name under which the app registers the buttons; nil until ``CategoryResolution`` makes one.
    package var identifier: String?
    /// `static` until the payload itself defines buttons.
    package var origin: Origin
    /// In the order in which the device shows them.
    package var actions: [Button]

    /// Takes the buttons in the order in which the device shows them.
    package init(identifier: String?, origin: Origin, actions: [Button]) {
        (self.identifier, self.origin, self.actions) = (identifier, origin, actions)
    }

    /// A category that the app defines, before the config adds its buttons.
    static func named(_ identifier: String) -> Category {
        Category(identifier: identifier, origin: .static, actions: [])
    }

    /// One button: `UNNotificationAction`, or an action of Android's `NotificationCompat`.
    package struct Button: Sendable, Equatable {
        /// The identifier that an app reports for a tap; unique within a category unless the vendor repeats it.
        package var identifier: String
        /// Nil if the app defines the title.
        package var title: String?
        /// The effect of a tap on the button.
        package var action: Action
        /// Empty for a vendor that sends none.
        package var options: Options
        /// Set for a button that asks the user for text.
        package var textInput: TextInput?

        /// A button without options and text input, unless they are given.
        package init(
            identifier: String, title: String?, action: Action, options: Options = [], textInput: TextInput? = nil
        ) {
            (self.identifier, self.title, self.action) = (identifier, title, action)
            (self.options, self.textInput) = (options, textInput)
        }
    }

    /// `UNNotificationActionOptions`, with Apple's raw values.
    package struct Options: OptionSet, Sendable {
        /// Apple's bits. Other bits are kept, but have no name.
        package let rawValue: Int
        /// Accepts any bits.
        package init(rawValue: Int) { self.rawValue = rawValue }

        /// The device must be unlocked.
        package static let authenticationRequired = Options(rawValue: 1)
        /// The system marks the button as destructive.
        package static let destructive = Options(rawValue: 2)
        /// A tap opens the app.
        package static let foreground = Options(rawValue: 4)

        /// Each option with its name in events and in the config, in the order in which events list them.
        package static let named: [(name: String, option: Options)] = [
            ("authenticationRequired", .authenticationRequired), ("destructive", .destructive),
            ("foreground", .foreground),
        ]

        /// The names of the options that are set.
        package var names: [String] { Self.named.filter { contains($0.option) }.map(\.name) }
    }

    /// `UNTextInputNotificationAction`, or Android's `RemoteInput`.
    package struct TextInput: Sendable, Equatable {
        /// The title of the button that sends the text, and the hint in the empty field.
        package var buttonTitle, placeholder: String?

        /// Nil for a text that the app or the system supplies.
        package init(buttonTitle: String? = nil, placeholder: String? = nil) {
            (self.buttonTitle, self.placeholder) = (buttonTitle, placeholder)
        }
    }
}
