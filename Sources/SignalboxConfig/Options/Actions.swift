import SignalboxJSON
package import SignalboxNotification

// Categories of buttons, and types of actions.

extension GatewayConfig {
    /// Sets of action buttons.
    package struct Categories: Sendable, Equatable {
        /// The categories that the app has compiled in.
        package var statics = StaticCategories()
        /// How long a category is stored after it was last seen.
        package var age: Duration = .seconds(90 * 86_400)
        /// Most categories of payloads that are stored, 1 to 10,000; the most recently seen remain.
        package var count = 1000
    }
}

// MARK: Options

extension GatewayConfig.Categories {
    /// Both members are optional; the defaults store categories for 90 days.
    static let options = Section(GatewayConfig.Categories()) {
        Option("static", \.statics, statics, "Categories that the app has compiled in, by identifier.")
        Option("retention", group: retention, "How long to store categories that payloads define.")
    }

    /// Concerns categories of payloads only. Declared categories are never removed.
    private static let retention = Section(GatewayConfig.Categories()) {
        Option(
            "age", \.age, .duration(from: "1h", to: "3660d", example: "90d"),
            "How long to store a category after it was last seen.")
        Option("count", \.count, .whole(1...10_000), "Most categories to store, the most recently seen first.")
    }

    /// The buttons of each category keep the order of the config.
    private static let statics = OptionType.section(category).keyed(by: identifiers).map { categories in
        var statics = StaticCategories()
        for (identifier, buttons) in categories {
            statics.declare(Category(identifier: identifier, origin: .static, actions: buttons))
        }
        return statics
    }

    /// Rejects two buttons with one identifier, because a tap names only the identifier.
    private static let category = Section([Category.Button]()) {
        let most = StaticCategories.mostActions
        Option(
            "actions", \.self,
            Category.Button.type.list(of: "buttons", 1...most, orElse: "a category must have 1 to \(most) actions"),
            required: "a category needs its \"actions\", an array of objects with \"identifier\" and \"title\"",
            "The buttons, in the order of display.")
    } check: { buttons, value, reader in
        var seen: Set<String> = []
        for (button, entry) in zip(buttons, value["actions"].map { Array($0.elements) } ?? [])
        where !seen.insert(button.identifier).inserted {
            reader.note(
                entry,
                "\"\(button.identifier)\" is the identifier of an earlier action; give each action its own")
        }
    }

    /// Longest identifier, in bytes.
    private static let longestIdentifier = 256

    /// Rejects identifiers with the prefix of those that the gateway makes.
    private static let identifiers = KeyRule(
        entries: "the identifier of each category", plural: "categories", most: ConfigBounds.categories,
        placeholder: "ID", schema: ["minLength": 1], isLine: true
    ) { identifier in
        let reserved = CategoryResolution.prefix
        if !(1...longestIdentifier).contains(identifier.utf8.count) {
            return "the identifier of a category must have 1 to \(longestIdentifier) bytes"
        }
        return identifier.hasPrefix(reserved)
            ? "names that begin with \"\(reserved)\" are made by the gateway; choose another"
            : nil
    }
}

extension Category.Button {
    /// The type follows from the other members when the config names none.
    fileprivate static let type = OptionType.section(options).map { draft in
        let isOpening = draft.options.contains(.foreground)
        let implied: Action.ActionType = draft.textInput != nil ? .reply : isOpening ? .openApp : .custom
        return Category.Button(
            identifier: draft.identifier, title: draft.title,
            action: Action(draft.type ?? implied, value: draft.value), options: draft.options,
            textInput: draft.textInput)
    }

    /// A button while its members are read; nil stands for an omitted member.
    private struct Draft: Sendable {
        var identifier = ""
        var title = ""
        /// Nil to derive the type from the other members.
        var type: Action.ActionType?
        var value: String?
        var options: Category.Options = []
        var textInput: Category.TextInput?
    }

    /// The error for either of them.
    private static let missing = "an action needs an \"identifier\" and a \"title\""

    /// The members have the names that payloads use for buttons.
    private static let options = Section(Draft()) {
        Option("identifier", \.identifier, .line, required: missing, "Identifies the button to the app.")
        Option("title", \.title, .text, required: missing, "The label.")
        Option(
            "type", \.type, .choice("type"),
            "The action of a tap. Default: `reply` with a text input, `openApp` in the foreground, otherwise `custom`.")
        Option("value", \.value, .text, "The argument of the type, such as a link.")
        Option("options", \.options, .buttonOptions, "Options of the button.")
        Option("textInput", \.textInput, .section(textInput), "Lets the user enter a text.")
    }

    /// An empty object is a text input with the labels of the system.
    private static let textInput = Section(Category.TextInput()) {
        Option("buttonTitle", \.buttonTitle, .text, "The label of the button that sends the text.")
        Option("placeholder", \.placeholder, .text, "Shown while the text is empty.")
    }
}

extension OptionType<Category.Options> {
    /// An array of the words for the options, each at most once. An empty array is an empty set.
    fileprivate static var buttonOptions: OptionType {
        let known = Category.Options.named.map { (name: $0.name, part: $0.option) }
        let words = OptionType<String>.word("option", among: known.map(\.name))
            .set(of: known.map { "`\($0.name)`" }.joined(separator: ", ")) { "\"\($0)\" is listed twice; remove one" }
        return .parts(words, known)
    }
}

extension ActionTypes {
    /// Without the section, every link except one that may run a script or reads local data is accepted.
    static let options = Section(ActionTypes()) {
        Option(
            "schemes", \.schemes, uriSchemes,
            "URI schemes that links of actions may have. Default: all except `javascript`, `vbscript`, `data` and `file`."
        )
        Option(
            "types", \.custom, OptionType.section(CustomType.options).dictionary(by: words) { $0 },
            "Types of actions that the app handles, by the vendor's word.")
    }

    /// Words are compared exactly, as payloads spell them.
    private static let words = KeyRule(
        entries: "the vendor's word for each type", plural: "types of actions", most: ConfigBounds.actionTypes,
        placeholder: "WORD", schema: ["minLength": 1], isLine: true
    ) { $0.isEmpty ? "a type of actions must have a name: the \"type\" in payloads" : nil }

    /// Schemes in lower case, without their colon (RFC 3986, 3.1). Repeats count once.
    private static let uriSchemes = OptionType<String>.string("URI scheme", pattern: "^[A-Za-z][A-Za-z0-9+.-]*$") {
        "\"\($0.lowercased())\" is not a scheme; write it without a colon, like \"https\""
    } _: { text in
        let scheme = text.lowercased()
        let isScheme = scheme.utf8.enumerated().allSatisfy { position, byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (position > 0 && "0123456789+-.".utf8.contains(byte))
        }
        return isScheme ? scheme : nil
    }.list(
        of: "URI schemes", 1...ConfigBounds.entries,
        orElse: "this allows no link at all; name a scheme, or leave it out"
    ).map { Set($0) }
}

extension ActionTypes.CustomType {
    /// Without `arguments`, an action of the type may have any arguments.
    fileprivate static let options = Section(ActionTypes.CustomType()) {
        Option(
            "arguments", \.arguments, ArgumentSchema.objectType, "The schema of its arguments: a subset of JSON Schema."
        )
        Option("requiredOptions", \.requiredOptions, .buttonOptions, "Options that its buttons must have.")
        Option("to", \.destinations, .destinations, "Destinations of taps on it, in addition to those of the routes.")
    }
}
