import SignalboxJSON

// `{type, value, …}`, wherever an action stands (IBM, "Default actions for mobile app messages"; plug-ins of
// Acoustic-Mobile-Push/iOS and Android).

extension MCE {
    /// The action that an object describes, with a warning when it has no type; nil when it is no object.
    func readAction(
        _ value: JSONValue, _ notification: inout PushNotification, in parser: JSONParser
    ) -> Action? {
        guard value.isObject else {
            notification.warn("mce.action-not-an-object", "An action is an object.", at: value, in: parser)
            return nil
        }
        let action = JSONObject(value)
        guard let word = action["type"]?.text else {
            notification.warn(
                "mce.action-type-missing", "An action has a type.", key: "type", of: action.value, in: parser)
            return Action(
                .custom, value: action["value"]?.spelled, arguments: arguments(of: action, except: action["value"]))
        }
        let type = Self.type(word)
        warnOfValue(action, type, &notification, in: parser)
        warnOfOtherPlatform(action, type, &notification, in: parser)
        let value = type == .snooze ? action["value"] ?? action["time"] : action["value"]
        let arguments = arguments(of: action, except: value)
        if type == .openUrl, let value, var opening = Action.opening(value, vendorType: word) {
            opening.arguments = arguments
            return opening
        }
        return Action(type, value: value?.spelled, vendorType: word, arguments: arguments)
    }

    /// Types are compared exactly, as the action registry does. iOS and Android name the web view differently.
    private static func type(_ word: String) -> Action.ActionType {
        switch word {
        case "url": .openUrl
        case "dial": .dial
        case "openApp": .openApp
        case "rich", "openInboxMessage": .richContent
        case "showactions": .showActions
        case "calendar": .calendar
        case "snooze": .snooze
        case "passbook": .passbook
        case "displayWebView", "displayweb": .webView
        case "textInput": .reply
        case "cancel": .dismiss
        default: .custom
        }
    }

    private func warnOfValue(
        _ action: JSONObject, _ type: Action.ActionType, _ notification: inout PushNotification, in parser: JSONParser
    ) {
        let value = action["value"]
        switch type {
        case .openUrl, .dial, .passbook, .webView:
            guard let value, value.isSpelled else {
                return notification.warn(
                    "mce.action-value-missing", "This type of action needs a value.", key: "value", of: action.value,
                    in: parser)
            }
            // Passes and web views come over TLS only (IBM, "Default actions for mobile app messages").
            guard value.utf8?.startsSpelling("http://") == true else { return }
            switch type {
            case .passbook, .webView: break
            default: return
            }
            notification.warn(
                "mce.value-not-https", "This type of action opens https addresses only.", at: value, in: parser)
        case .snooze:
            // The documentation writes the minutes as a string. Android has them under `time`, also as a string.
            guard let value, !value.isNull, value.number == nil, value.decimal == nil else { return }
            notification.warn(
                "mce.snooze-not-a-number", "The minutes of a snooze are a number.", at: value, in: parser)
        default: return
        }
    }

    /// The plug-ins of iOS and Android go by other keys, and that for web pages by another type; neither understands the
    /// other's (Acoustic-Mobile-Push/iOS, plugins; Android, plugin-*.json).
    private func warnOfOtherPlatform(
        _ action: JSONObject, _ type: Action.ActionType, _ notification: inout PushNotification,
        in parser: JSONParser
    ) {
        // Enumerations with raw values are compared by those; a switch is not.
        switch type {
        case .calendar, .snooze, .webView: break
        default: return
        }
        let isApple: Bool
        switch notification.platform {
        case .apns: isApple = true
        case .fcm: isApple = false
        case .unknown: return
        }
        let foreign: JSONValue? =
            switch (type, isApple) {
            case (.calendar, true): action["starts"] ?? action["ends"]
            case (.calendar, false): action["startDate"] ?? action["endDate"]
            case (.snooze, true): action["value"] == nil ? action["time"] : nil
            case (.snooze, false): action["time"] == nil ? action["value"] : nil
            default: action["type"].flatMap { $0.equals(isApple ? "displayweb" : "displayWebView") ? $0 : nil }
            }
        guard let foreign else { return }
        notification.warn(
            "mce.of-other-platform",
            "The plug-in of \(isApple ? "iOS" : "Android") does not know this; that of the other platform does.",
            at: foreign, in: parser)
    }

    /// What the SDK hands to the action's handler besides type and value: a calendar's dates, an e-mail's parts.
    private func arguments(of action: JSONObject, except read: JSONValue?) -> JSONText? {
        var writer = JSONWriter()
        action.forEachMember { key, value in
            guard !Self.isAction(key) else { return }
            if let read, value.isSamePlace(as: read), read.isSpelled { return }
            if writer.isEmpty { writer.beginObject() }
            writer.key(utf8: key)
            writer.value(value)
        }
        guard !writer.isEmpty else { return nil }
        writer.endObject()
        return JSONText(writer)
    }

    private static func isAction(_ key: UnsafeBufferPointer<UInt8>) -> Bool {
        key.equals("type") || key.equals("name") || key.equals("destructive") || key.equals("authentication")
            || key.equals("foreground")
    }
}

// MARK: Buttons

extension MCE {
    /// The SDK identifies a button by the JSON of its action, which says nothing to people and changes with its
    /// spelling; see ``ButtonIdentifiers`` for what stands here instead.
    func readButtons(
        _ list: JSONValue?, needFlags: Bool, _ notification: inout PushNotification, in parser: JSONParser
    ) -> [Category.Button] {
        guard let list = notification.bounded(list, "mce.too-many-actions", in: parser) else { return [] }
        var identifiers = ButtonIdentifiers()
        var buttons: [Category.Button] = []
        for value in list {
            guard let action = readAction(value, &notification, in: parser) else { continue }
            let button = JSONObject(value)
            let title = button["name"]?.text
            if title == nil {
                notification.warn(
                    "mce.action-name-missing", "The name of an action is the title of its button.", key: "name",
                    of: value, in: parser)
            }
            buttons.append(
                Category.Button(
                    identifier: identifiers.next(for: action, title: title), title: title, action: action,
                    options: needFlags ? readOptions(button, &notification, in: parser) : [],
                    textInput: action.type == .reply ? .init() : nil))
        }
        return buttons
    }

    /// `rich`, `dial` and `url` have defaults. Any other type must give its flags, and is read with the same defaults
    /// when it does not. The carousel's own sample omits them for `next` and `prev` (Acoustic-Mobile-Push/iOS, Image
    /// Carousel Plugin).
    private func readOptions(
        _ button: JSONObject, _ notification: inout PushNotification, in parser: JSONParser
    ) -> Category.Options {
        let type = button["type"]
        let hasDefaults =
            type?.equals("url") == true || type?.equals("dial") == true || type?.equals("rich") == true
            || type?.equals("next") == true || type?.equals("prev") == true
        var options: Category.Options = []
        func flag(_ key: StaticString, default standard: Bool) -> Bool {
            if let value = button[key], !value.isNull { return value.appleFlag }
            if !hasDefaults {
                notification.warn(
                    "mce.action-option-missing", "Only rich, dial and url have defaults for their options.",
                    key: key.description, of: button.value, in: parser)
            }
            return standard
        }
        if flag("destructive", default: false) { options.insert(.destructive) }
        if flag("authentication", default: false) { options.insert(.authenticationRequired) }
        if flag("foreground", default: true) { options.insert(.foreground) }
        return options
    }
}
