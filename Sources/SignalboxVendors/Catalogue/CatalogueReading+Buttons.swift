import SignalboxJSON
import SignalboxModel

extension CatalogueReading {
    func readButtons(_ payload: borrowing PlatformPayload, _ notification: inout PushNotification) {
        for field in fields.buttons {
            let buttons =
                field.list.isEmpty
                ? countedButtons(field, payload) : listedButtons(field, payload, &notification)
            guard !buttons.isEmpty else { continue }
            notification.category = Category(
                identifier: notification.category?.identifier, origin: .dynamic, actions: buttons)
            return
        }
    }

    private func listedButtons(
        _ field: CatalogueFields.ButtonsField, _ payload: borrowing PlatformPayload,
        _ notification: inout PushNotification
    ) -> [Category.Button] {
        let parser = payload.parser
        var names = ButtonIdentifiers()
        var buttons: [Category.Button] = []
        for (key, value) in elements(field.list, "too-many-buttons", payload, &notification) {
            let key = key.map { String(decoding: $0, as: UTF8.self) }
            let button = button(field, key, &names) { parser.value(at: $0, from: value) }
            if let button, buttons.count < field.most { buttons.append(button) }
        }
        return buttons
    }

    /// Buttons whose parts stand under keys that count up; the first gap ends them.
    private func countedButtons(
        _ field: CatalogueFields.ButtonsField, _ payload: borrowing PlatformPayload
    ) -> [Category.Button] {
        var names = ButtonIdentifiers()
        var buttons: [Category.Button] = []
        for count in field.first..<field.first + min(field.most, Self.longestCount) {
            guard let button = button(field, nil, &names, { payload.value(at: $0, count: count) }),
                button.title != nil || field.title.isEmpty
            else { break }
            buttons.append(button)
        }
        return buttons
    }

    /// One button; nil when it lacks what the vendor's SDK needs. `key`: what identifies it in an object of buttons.
    private func button(
        _ field: CatalogueFields.ButtonsField, _ key: String?, _ names: inout ButtonIdentifiers,
        _ find: (CataloguePath) -> JSONValue?
    ) -> Category.Button? {
        func text(_ paths: CataloguePaths) -> String? { paths.first(find, where: \.isSpelled)?.spelled }
        guard field.needs.allSatisfy({ find($0)?.isSpelled == true }) else { return nil }
        let title = text(field.title)
        let action = tap(field.tap, find) ?? Action(.openApp)
        var options: Category.Options = []
        for (option, condition) in field.options where condition.holds(find) { options.insert(option) }
        var button = Category.Button(
            identifier: text(field.identifier) ?? key ?? names.next(for: action, title: title), title: title,
            action: action, options: options)
        if let condition = field.textInput, condition.holds(find) {
            button.textInput = .init(buttonTitle: text(field.inputButton), placeholder: text(field.placeholder))
            if button.action == Action(.openApp) { button.action = Action(.reply) }
        }
        return button
    }

    /// The elements of the first list to which a path leads, or the members of the first object.
    func elements(
        _ paths: CataloguePaths, _ code: String, _ payload: borrowing PlatformPayload,
        _ notification: inout PushNotification
    ) -> [(key: UnsafeBufferPointer<UInt8>?, value: JSONValue)] {
        for path in paths {
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
