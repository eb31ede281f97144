import SignalboxJSON

// The form in which apps receive categories. docs/guides/categories.md maps it to each system.

extension CategoryRecord {
    /// How a category is registered with a system; nil for one without a name.
    package init?(_ category: Category) {
        guard let identifier = category.identifier else { return nil }
        var json = JSONWriter()
        json.beginObject()
        json.key("identifier")
        json.string(identifier)
        json.key("origin")
        json.string(category.origin.rawValue)
        json.key("actions")
        json.beginArray()
        for position in category.actions.indices { json.registered(category.actions[position]) }
        json.endArray()
        json.key("intentIdentifiers")
        json.strings([])
        json.key("options")
        json.strings([])
        json.endObject()
        self.init(identifier: identifier, definition: json.bytes)
    }
}

extension JSONWriter {
    fileprivate mutating func registered(_ button: Category.Button) {
        beginObject()
        key("identifier")
        string(button.identifier)
        key("title")
        // Both systems want a title; without one the identifier is all there is to show.
        string(button.title ?? button.identifier)
        key("options")
        strings(button.options.names)
        if let input = button.textInput {
            key("textInput")
            beginObject()
            member("buttonTitle", input.buttonTitle)
            member("placeholder", input.placeholder)
            endObject()
        }
        key("type")
        string(button.action.type.rawValue)
        member("value", button.action.value)
        member("arguments", button.action.arguments)
        android(button)
        endObject()
    }

    private mutating func android(_ button: Category.Button) {
        key("android")
        beginObject()
        key("showsUserInterface")
        bool(button.options.contains(.foreground) || button.action.type.opensSomething)
        key("authenticationRequired")
        bool(button.options.contains(.authenticationRequired))
        key("semanticAction")
        integer(button.action.type.semanticAction)
        if let input = button.textInput {
            key("remoteInput")
            beginObject()
            key("resultKey")
            string(button.identifier)
            member("label", input.placeholder)
            endObject()
        }
        endObject()
    }
}

extension Action.ActionType {
    /// Whether something comes up on the screen when it is tapped, whatever the options say.
    fileprivate var opensSomething: Bool {
        switch self {
        case .openApp, .openUrl, .deepLink, .dial, .calendar, .passbook, .webView, .showActions, .richContent: true
        case .snooze, .dismiss, .reply, .custom: false
        }
    }

    /// `SEMANTIC_ACTION_…` of `NotificationCompat.Action`: NONE, REPLY or CALL.
    fileprivate var semanticAction: Int {
        switch self {
        case .reply: 1
        case .dial: 10
        default: 0
        }
    }
}
