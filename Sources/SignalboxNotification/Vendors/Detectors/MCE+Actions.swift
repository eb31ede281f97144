import SignalboxJSON

// Actions of notifications and buttons, `{"type": "url", "value": "…", "name": "…", "foreground": true, …}` (IBM,
// "Default actions for mobile app messages"; plug-ins of Acoustic-Mobile-Push/iOS and Android).

extension MCE {
    /// The SDK's action registry compares types exactly. iOS and Android use different names for the web view.
    static func type(_ word: String) -> Action.ActionType {
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

    /// The value of an action. Android's plug-in has the minutes of a snooze under `time`. On Apple devices, those for
    /// React Native and Cordova have them, and the addresses of passes and web views, in an object
    /// (go-acoustic/Acoustic-Mobile-Push-React-Native @a2aae74, RNAcousticMobilePushSnooze.m,
    /// RNAcousticMobilePushWallet.m, RNAcousticMobilePushDisplayWeb.m; Acoustic-Mobile-Push-Cordova, the same). An
    /// inbox message may have its own identifier only (Acoustic-Mobile-Push/iOS, MCEInboxActionPlugin.m).
    fileprivate static func value(of action: JSONObject, _ type: Action.ActionType) -> JSONValue? {
        let value = action["value"]
        switch type {
        case .snooze: return value?["time"] ?? value ?? action["time"]
        case .passbook, .webView: return value?["url"] ?? value
        case .richContent: return value ?? action["inboxMessageId"]
        default: return value
        }
    }

    /// The values that the SDK passes to the action's handler besides type and value: a calendar's dates, an e-mail's
    /// parts. `consumed`: the value of the action. `isButton`: whether the name is the title of a button.
    fileprivate static func arguments(
        of action: JSONObject, except consumed: JSONValue?, isButton: Bool
    ) -> JSONText? {
        var writer = JSONWriter()
        action.forEachMember { key, value in
            guard !isOption(key) else { return }
            if key.equals("type"), value.hasText || value.isNull { return }
            if key.equals("name"), isButton && value.hasScalarText || value.isNull { return }
            if let consumed, isOnly(consumed, in: value), consumed.hasScalarText { return }
            if writer.isEmpty { writer.beginObject() }
            writer.key(utf8: key)
            writer.value(value)
        }
        guard !writer.isEmpty else { return nil }
        writer.endObject()
        return JSONText(writer)
    }

    /// Whether a value is `consumed`, or an object with no other member.
    private static func isOnly(_ consumed: JSONValue, in value: JSONValue) -> Bool {
        if value.isSamePlace(as: consumed) { return true }
        guard value.contains(consumed) else { return false }
        return value.members.allSatisfy { $0.value.isSamePlace(as: consumed) }
    }

    /// Keys of a button's options.
    private static func isOption(_ key: UnsafeBufferPointer<UInt8>) -> Bool {
        key.equals("destructive") || key.equals("authentication") || key.equals("foreground")
    }
}

extension PushNotification {
    /// The action that an object describes; warns of a missing type. Nil, with a warning, for any other value.
    /// `isButton`: whether its name is the title of a button; otherwise the name is an argument.
    mutating func readMCEAction(_ value: JSONValue, isButton: Bool = false, in parser: JSONParser) -> Action? {
        guard value.isObject else {
            warn("mce.action-not-an-object", "The action is not an object.", at: value, in: parser)
            return nil
        }
        let action = JSONObject(value)
        guard let word = action["type"]?.text else {
            warn("mce.action-type-missing", "The action has no type.", key: "type", of: value, in: parser)
            let arguments = MCE.arguments(of: action, except: action["value"], isButton: isButton)
            return Action(.custom, value: action["value"]?.scalarText, arguments: arguments)
        }
        let type = MCE.type(word)
        warnOfValue(action, type, in: parser)
        warnOfOtherPlatform(action, type, in: parser)
        let value = MCE.value(of: action, type)
        let arguments = MCE.arguments(of: action, except: value, isButton: isButton)
        if type == .openUrl, let value, var opening = Action.opening(value, vendorType: word) {
            opening.arguments = arguments
            return opening
        }
        return Action(type, value: value?.scalarText, vendorType: word, arguments: arguments)
    }

    /// Checks the value by the rules of MCE's documentation.
    private mutating func warnOfValue(_ action: JSONObject, _ type: Action.ActionType, in parser: JSONParser) {
        let value = MCE.value(of: action, type)
        switch type {
        case .openUrl, .dial, .passbook, .webView:
            guard let value, value.hasScalarText else {
                return warn(
                    "mce.action-value-missing", "This type of action needs a value.", key: "value", of: action.value,
                    in: parser)
            }
            // Passes and web views require TLS (IBM, "Default actions for mobile app messages").
            guard value.utf8?.hasPrefixIgnoringCase("http://") == true else { return }
            switch type {
            case .passbook, .webView: break
            default: return
            }
            warn("mce.value-not-https", "This type of action opens https addresses only.", at: value, in: parser)
        case .snooze:
            // The documentation writes the minutes as a string. Android has them under `time`, also as a string.
            guard action["value"] != nil, let value, value.number == nil, value.decimal == nil else { return }
            warn("mce.snooze-not-a-number", "The snooze minutes are not a number.", at: value, in: parser)
        default: return
        }
    }

    /// The plug-ins of iOS and Android use different keys, and different types for web pages; neither supports those
    /// of the other (Acoustic-Mobile-Push/iOS, plugins; Android, plugin-*.json).
    private mutating func warnOfOtherPlatform(_ action: JSONObject, _ type: Action.ActionType, in parser: JSONParser) {
        // A switch, because `==` compares the raw values of such enumerations.
        switch type {
        case .calendar, .snooze, .webView: break
        default: return
        }
        let isApple: Bool
        switch devices {
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
        warn(
            "mce.of-other-platform",
            "The \(isApple ? "iOS" : "Android") plug-in does not support this; that of the other platform does.",
            at: foreign, in: parser)
    }

    // MARK: Buttons

    /// The SDK identifies a button by the JSON of its action, which is unreadable and depends on the spelling; events
    /// contain ``ButtonIdentifiers`` instead. `needFlags`: whether the platform reads the buttons' options.
    mutating func readMCEButtons(_ list: JSONValue?, needFlags: Bool, in parser: JSONParser) -> [Category.Button] {
        guard let list = bounded(list, "mce.too-many-actions", in: parser) else { return [] }
        var identifiers = ButtonIdentifiers()
        var buttons: [Category.Button] = []
        for value in list {
            guard let action = readMCEAction(value, isButton: true, in: parser) else { continue }
            let button = JSONObject(value)
            let title = button["name"]?.scalarText
            if title == nil {
                warn(
                    "mce.action-name-missing", "The action has no name, so its button has no title.", key: "name",
                    of: value, in: parser)
            }
            buttons.append(
                Category.Button(
                    identifier: identifiers.next(for: action, title: title), title: title, action: action,
                    options: needFlags ? readOptions(button, in: parser) : [],
                    textInput: action.type == .reply ? .init() : nil))
        }
        return buttons
    }

    /// `rich`, `dial` and `url` have defaults. Any other type must specify its flags; the same defaults apply if it
    /// does not. The carousel's own sample omits them for `next` and `prev` (Acoustic-Mobile-Push/iOS, Image Carousel
    /// Plugin).
    private mutating func readOptions(_ button: JSONObject, in parser: JSONParser) -> Category.Options {
        let type = button["type"]
        let hasDefaults =
            type?.equals("url") == true || type?.equals("dial") == true || type?.equals("rich") == true
            || type?.equals("next") == true || type?.equals("prev") == true
        var options: Category.Options = []
        /// One flag of the button, as Apple's `boolValue`; warns if a required flag is missing.
        func flag(_ key: StaticString, default standard: Bool) -> Bool {
            if let value = button[key], !value.isNull { return value.appleFlag }
            if !hasDefaults {
                warn(
                    "mce.action-option-missing", "The button lacks the option; only rich, dial and url have defaults.",
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
