import SignalboxJSON

// Categories in the one form in which apps fetch them. docs/guides/categories.md maps it to each system.

/// A category in the registry.
package struct CategoryRecord: Sendable, Equatable {
    /// The name under which apps register and fetch the category.
    package let identifier: String
    /// A JSON object with the values that an app registers with its system.
    package let definition: [UInt8]

    /// `definition`: UTF-8 that apps receive unchanged.
    package init(identifier: String, definition: [UInt8]) {
        (self.identifier, self.definition) = (identifier, definition)
    }

    /// Writes the definition; nil for a category without a name.
    init?(_ category: Category) {
        guard let identifier = category.identifier else { return nil }
        var json = JSONWriter()
        json.beginObject()
        json.member("identifier", identifier)
        json.member("origin", category.origin.rawValue)
        json.array("actions", of: category.actions.indices) { $0.registered(category.actions[$1]) }
        json.member("intentIdentifiers", [])
        json.member("options", [])
        json.endObject()
        self.init(identifier: identifier, definition: json.bytes)
    }
}

/// A category that a payload defines, for the registry. Its definition is written only if the registry does not know
/// it: nearly every event contains a known definition.
package struct DefinedCategory: Sendable {
    /// The name under which the registry stores the category.
    package let identifier: String
    /// True when the identifier is derived from the definition, so that an equal identifier means an equal definition.
    package let isNamedByDefinition: Bool
    /// Writes the record when the registry needs it.
    private let make: @Sendable () -> CategoryRecord?

    /// `make`: returns nil for a definition that the registry must not store.
    package init(_ identifier: String, isNamedByDefinition: Bool, make: @escaping @Sendable () -> CategoryRecord?) {
        (self.identifier, self.isNamedByDefinition, self.make) = (identifier, isNamedByDefinition, make)
    }

    /// The record to store; nil if the registry must not store it. Written anew on each call.
    package var record: CategoryRecord? { make() }
}

/// The categories that the app defines, as the config declares them. Payloads only name them.
package struct StaticCategories: Sendable, Equatable {
    /// The most buttons of a category that Apple's systems show (developer.apple.com, `UNNotificationCategory`).
    package static let mostActions = 10

    /// By identifier. All of them are static, with a title for each button.
    private var categories = ExactTextMap<Category>()

    /// No declarations.
    package init() {}

    /// True if the config declares no category.
    package var isEmpty: Bool { categories.isEmpty }

    /// The declaration with an identifier, compared exactly.
    package subscript(_ identifier: String) -> Category? { categories[identifier] }

    /// Declares a category and replaces an earlier one with the same identifier. Ignores one without an identifier.
    package mutating func declare(_ category: Category) {
        guard let identifier = category.identifier else { return }
        categories[identifier] = category
    }

    /// The records of all categories, ordered by identifier.
    package var records: [CategoryRecord] {
        categories.values.compactMap { CategoryRecord($0) }.sorted { $0.identifier < $1.identifier }
    }
}

extension JSONWriter {
    /// One button: the common values, and those of Android that have no counterpart on Apple's platforms.
    fileprivate mutating func registered(_ button: Category.Button) {
        beginObject()
        member("identifier", button.identifier)
        // Both systems require a title.
        member("title", button.title ?? button.identifier)
        member("options", button.options.names)
        if let input = button.textInput { textInput(input) }
        member("type", button.action.type.rawValue)
        member("value", button.action.value)
        member("arguments", button.action.arguments)
        object("android") { json in
            json.key("showsUserInterface")
            json.bool(button.options.contains(.foreground) || button.action.type.opensSomething)
            json.member("authenticationRequired", button.options.contains(.authenticationRequired))
            json.member("semanticAction", button.action.type.semanticAction)
            guard let input = button.textInput else { return }
            json.object("remoteInput") { json in
                json.member("resultKey", button.identifier)
                json.member("label", input.placeholder)
            }
        }
        endObject()
    }
}

extension Action.ActionType {
    /// True when a tap opens a screen, regardless of the button's options.
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
