import SignalboxJSON

/// Buttons of a notification: listed, or with keys that count up.
extension CatalogueReading {
    /// Reads the first field with a button, and the fields after it that join it. The buttons define a dynamic category
    /// under the name that the payload gives, if any.
    mutating func readButtons(_ payload: borrowing PlatformPayload, _ notification: inout PushNotification) {
        var buttons: [Category.Button] = []
        for position in fields.buttons.indices {
            guard buttons.isEmpty || fields.buttons[position].joins,
                payload.mayHave(fields.buttons[position].source)
            else { continue }
            let field = fields.buttons[position]
            buttons +=
                field.list.isEmpty
                ? countedButtons(field, payload) : listedButtons(field, payload, &notification)
        }
        notification.defineCategory(buttons, named: notification.category?.identifier)
    }

    /// The buttons of a list or object, up to the number that the SDK shows.
    private mutating func listedButtons(
        _ field: CatalogueFields.ButtonsField, _ payload: borrowing PlatformPayload,
        _ notification: inout PushNotification
    ) -> [Category.Button] {
        let parser = payload.parser
        var names = ButtonIdentifiers()
        var buttons: [Category.Button] = []
        for (key, value) in elements(field.list, "too-many-buttons", payload, &notification) where value.isObject {
            let key = key.map { String(decoding: $0, as: UTF8.self) }
            guard buttons.count < field.most else { break }
            if let button = button(field, key, &names, { parser.value(at: $0, from: value) }) { buttons.append(button) }
        }
        return buttons
    }

    /// Buttons whose parts have keys that count up; the first gap ends them. At most 100. Values of the button after
    /// the gap are not consumed, so they stay in `custom`. If the entry has a path of titles, a button without a
    /// title counts as a gap.
    private mutating func countedButtons(
        _ field: CatalogueFields.ButtonsField, _ payload: borrowing PlatformPayload
    ) -> [Category.Button] {
        var names = ButtonIdentifiers()
        var buttons: [Category.Button] = []
        let members = members
        for count in field.first..<field.first + min(field.most, Self.longestCount) {
            let before = consumed
            guard let button = button(field, nil, &names, { payload.value(at: $0, count: count, by: members) }),
                button.title != nil || field.title.isEmpty
            else {
                consumed = before
                break
            }
            buttons.append(button)
        }
        return buttons
    }

    /// One button; nil if it lacks values that the vendor's SDK requires. `key`: its key in an object of buttons.
    /// `names`: gives identifiers to buttons that have none. `find`: the value at a path of this button.
    private mutating func button(
        _ field: CatalogueFields.ButtonsField, _ key: String?, _ names: inout ButtonIdentifiers,
        _ find: (CataloguePath) -> JSONValue?
    ) -> Category.Button? {
        guard field.needs.all.allSatisfy({ find($0)?.hasScalarText == true }), !isDropped(field, find) else {
            return nil
        }
        let title = takeText(field.title, find)
        let action = tap(field.tap, find) ?? Action(.openApp)
        var options: Category.Options = []
        for (option, condition) in field.options where holds(condition, find) { options.insert(option) }
        let identifier =
            takeText(field.identifier, find) ?? field.fixedIdentifier ?? key ?? names.next(for: action, title: title)
        var button = Category.Button(identifier: identifier, title: title, action: action, options: options)
        if let condition = field.textInput, holds(condition, find) {
            button.textInput = .init(
                buttonTitle: takeText(field.inputButton, find), placeholder: takeText(field.placeholder, find))
            if button.action == Action(.openApp) { button.action = Action(.reply) }
        }
        return button
    }

    /// The parameters of a custom tap on the notification, if FCM's data contains their object as JSON text.
    mutating func readArguments(_ payload: borrowing PlatformPayload, _ notification: inout PushNotification) {
        guard let action = notification.action, action.type == .custom, action.arguments == nil,
            let text = take(fields.tap.arguments, in: payload, where: { payload.parser.object($0) != nil })
        else { return }
        notification.action?.arguments = payload.parser.object(text).map { JSONText($0) }
    }

    /// True if the conditions of one rule all hold for the button. A rule without conditions drops nothing.
    private func isDropped(_ field: CatalogueFields.ButtonsField, _ find: (CataloguePath) -> JSONValue?) -> Bool {
        field.drops.contains { rule in !rule.isEmpty && rule.allSatisfy { $0.holds(find) } }
    }

    /// Consumes the value of a condition that holds and determines it.
    private mutating func holds(_ condition: CatalogueCondition, _ find: (CataloguePath) -> JSONValue?) -> Bool {
        guard condition.holds(find) else { return false }
        if condition.test.determinesValue, let value = condition.path.flatMap(find) { consumed.insert(value) }
        return true
    }

    /// The elements of the first of the alternatives that is a list or an object and not empty; of an object, its
    /// members in the order of their keys. Warns of each other value before it, except empty ones, and of a list with
    /// more elements than ``longestList``.
    func elements(
        _ paths: CataloguePaths, _ code: String, _ payload: borrowing PlatformPayload,
        _ notification: inout PushNotification
    ) -> [(key: UnsafeBufferPointer<UInt8>?, value: JSONValue)] {
        for path in paths.all {
            guard let value = payload.value(at: path) else { continue }
            guard let list = payload.parser.container(value) else {
                notification.warn(self.code("list-expected"), "A list is expected here.", at: value, in: payload.parser)
                continue
            }
            _ = notification.bounded(list, self.code(code), in: payload.parser)
            let elements = list.orderedMembers
            if !elements.isEmpty { return elements }
        }
        return []
    }
}
