package import SignalboxJSON

/// What a tap does, on the notification or on one of its buttons.
package struct Action: Sendable, Equatable {
    package enum ActionType: String, Sendable, CaseIterable {
        case openApp, openUrl, deepLink, dial, calendar, snooze, passbook, webView, showActions, richContent, dismiss
        case reply, custom
    }

    package var type: ActionType
    /// A URL, a phone number, an identifier, minutes: what the type says.
    package var value: String?
    /// The vendor's own word for the type.
    package var vendorType: String?
    /// What else the vendor passes to the action, an object.
    package var arguments: JSONText?

    package init(_ type: ActionType, value: String? = nil, vendorType: String? = nil, arguments: JSONText? = nil) {
        self.type = type
        self.value = value
        self.vendorType = vendorType
        self.arguments = arguments
    }
}

/// A set of action buttons, `UNNotificationCategory` on Apple's side.
package struct Category: Sendable, Equatable {
    package enum Origin: String, Sendable, CaseIterable {
        /// Defined by the payload.
        case dynamic
        /// Compiled into the app; the payload only names it.
        case `static`
    }

    package var identifier: String?
    package var origin: Origin
    package var actions: [Button]

    package init(identifier: String?, origin: Origin, actions: [Button]) {
        self.identifier = identifier
        self.origin = origin
        self.actions = actions
    }

    /// One button: `UNNotificationAction`, or an action of `NotificationCompat`.
    package struct Button: Sendable, Equatable {
        package var identifier: String
        package var title: String?
        package var action: Action
        package var options: Options
        package var textInput: TextInput?

        package init(
            identifier: String, title: String?, action: Action, options: Options = [], textInput: TextInput? = nil
        ) {
            self.identifier = identifier
            self.title = title
            self.action = action
            self.options = options
            self.textInput = textInput
        }
    }

    /// `UNNotificationActionOptions`, with Apple's values.
    package struct Options: OptionSet, Sendable {
        package let rawValue: Int
        package init(rawValue: Int) { self.rawValue = rawValue }

        package static let authenticationRequired = Options(rawValue: 1)
        package static let destructive = Options(rawValue: 2)
        package static let foreground = Options(rawValue: 4)

        /// Each option by the name that events and the config have for it.
        package static let named: [(name: String, option: Options)] = [
            ("authenticationRequired", .authenticationRequired), ("destructive", .destructive),
            ("foreground", .foreground),
        ]

        /// Those that are set, by the names that events have for them.
        package var names: [String] { Self.named.filter { contains($0.option) }.map(\.name) }
    }

    package struct TextInput: Sendable, Equatable {
        package var buttonTitle: String?
        package var placeholder: String?

        package init(buttonTitle: String? = nil, placeholder: String? = nil) {
            self.buttonTitle = buttonTitle
            self.placeholder = placeholder
        }
    }
}
