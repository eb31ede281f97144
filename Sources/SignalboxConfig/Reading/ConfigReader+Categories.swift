import SignalboxJSON
import SignalboxNotification

// `categories`: sets of buttons, and how long those are kept that payloads define.

extension ConfigReader {
    /// Longest identifier, in bytes.
    private static let longestIdentifier = 256

    mutating func categories(_ value: JSONValue) -> GatewayConfig.Categories {
        var categories = GatewayConfig.Categories()
        guard isObject(value, keys: ["static", "retention"]) else { return categories }
        if let retention = value["retention"], isObject(retention, keys: ["age", "count"]) {
            let range: ClosedRange<Duration> = .seconds(3600)...(.seconds(3660 * 86_400))
            if let age = retention["age"] {
                categories.age = duration(age, in: range, example: "90d") ?? categories.age
            }
            if let count = retention["count"] { categories.count = whole(count, in: 1...10_000) ?? categories.count }
        }
        guard let statics = value["static"] else { return categories }
        guard statics.isObject else {
            note(statics, "this must be an object, in braces, with the identifier of each category")
            return categories
        }
        guard hasAtMost(ConfigBounds.categories, "categories", in: statics) else { return categories }
        var seen: Set<String> = []
        for (key, member) in statics.members {
            let identifier = String(decoding: key, as: UTF8.self)
            if !seen.insert(identifier).inserted { note(keyOf: member, Self.repeated(identifier)) }
            check(identifier, member)
            if let actions = buttons(member) {
                categories.statics.declare(Category(identifier: identifier, origin: .static, actions: actions))
            }
        }
        return categories
    }

    private mutating func check(_ identifier: String, _ value: JSONValue) {
        let made = CategoryResolution.prefix
        if !(1...Self.longestIdentifier).contains(identifier.utf8.count) {
            note(value, "the identifier of a category has 1 to \(Self.longestIdentifier) bytes")
        } else if identifier.hasPrefix(made) {
            note(value, "names that begin with \"\(made)\" are made by the gateway; take another")
        } else {
            checkLine(keyOf: value, identifier)
        }
    }

    private mutating func buttons(_ value: JSONValue) -> [Category.Button]? {
        guard isObject(value, keys: ["actions"]) else { return nil }
        guard let actions = value["actions"] else {
            note(value, "a category needs its \"actions\", an array of objects with \"identifier\" and \"title\"")
            return nil
        }
        let entries = actions.isArray ? Array(actions.elements.prefix(StaticCategories.mostActions + 1)) : list(actions)
        let most = StaticCategories.mostActions
        if entries.isEmpty || entries.count > most {
            if actions.isArray { note(actions, "a category has 1 to \(most) actions; no system shows more") }
            return nil
        }
        var buttons: [Category.Button] = []
        for entry in entries {
            guard let button = button(entry) else { continue }
            let name = button.identifier
            if buttons.contains(where: { $0.identifier == name }) {
                note(entry, "\"\(name)\" is the identifier of an earlier action; an app tells them apart by it")
            }
            buttons.append(button)
        }
        return buttons
    }

    private mutating func button(_ value: JSONValue) -> Category.Button? {
        let keys = ["identifier", "title", "type", "value", "options", "textInput"]
        guard isObject(value, keys: keys) else { return nil }
        guard let identifier = value["identifier"], let title = value["title"] else {
            note(value, "an action needs an \"identifier\" and a \"title\"")
            return nil
        }
        let options = value["options"].map { self.options($0) } ?? []
        let input = value["textInput"].flatMap { textInput($0) }
        let type =
            value["type"].flatMap { actionType($0) }
            ?? (input != nil ? .reply : options.contains(.foreground) ? .openApp : .custom)
        let action = Action(type, value: value["value"].flatMap { text($0) })
        let texts = (identifier: line(identifier), title: text(title))
        guard let identifier = texts.identifier, let title = texts.title else { return nil }
        return Category.Button(
            identifier: identifier, title: title, action: action, options: options, textInput: input)
    }

    private mutating func actionType(_ value: JSONValue) -> Action.ActionType? {
        guard let name = text(value) else { return nil }
        if let type = Action.ActionType(rawValue: name) { return type }
        let known = Action.ActionType.allCases.map(\.rawValue)
        note(value, "there is no type \"\(name)\"" + Self.suggestion(for: name, among: known))
        return nil
    }

    /// Options of a button.
    mutating func options(_ value: JSONValue) -> Category.Options {
        var options: Category.Options = []
        for entry in list(value) {
            guard let name = text(entry) else { continue }
            if let known = Category.Options.named.first(where: { $0.name == name }) {
                if options.contains(known.option) { note(entry, "\"\(name)\" stands here twice; remove one") }
                options.insert(known.option)
            } else {
                let names = Category.Options.named.map(\.name)
                note(entry, "there is no option \"\(name)\"" + Self.suggestion(for: name, among: names))
            }
        }
        return options
    }

    private mutating func textInput(_ value: JSONValue) -> Category.TextInput? {
        guard isObject(value, keys: ["buttonTitle", "placeholder"]) else { return nil }
        return Category.TextInput(
            buttonTitle: value["buttonTitle"].flatMap { text($0) },
            placeholder: value["placeholder"].flatMap { text($0) })
    }
}
