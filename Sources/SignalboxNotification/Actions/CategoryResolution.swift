/// Gives every set of buttons its name and its labels: the stage between the vendor's reading and the event.
///
/// Pure but for the digest, which is handed in. Notifications without a category pass untouched, and so does what the
/// system does not show: buttons of in-app messages are no category of it.
package struct CategoryResolution: Sendable {
    /// Names that are made here begin so.
    package static let prefix = "signalbox-"
    /// A definition larger than this, in bytes, is not kept for apps; no system shows as much.
    package static let longestDefinition = 16 * 1024

    private let statics: StaticCategories
    private let digest: @Sendable ([UInt8]) -> String

    /// `statics`: what the config declares. `digest`: hexadecimal digits that are the same for the same bytes and for no
    /// others.
    package init(statics: StaticCategories, digest: @escaping @Sendable ([UInt8]) -> String) {
        self.statics = statics
        self.digest = digest
    }

    /// Names what has no name, lends labels to what has none, and notes what is wrong.
    package func resolve(_ notification: inout PushNotification) {
        guard var category = notification.category, Self.isShownBySystem(notification) else { return }
        switch category.origin {
        case .dynamic: name(&category, &notification)
        case .static: lendLabels(to: &category, &notification)
        }
        notification.category = category
        CategoryCheck(category).warn(&notification)
    }

    /// What the registry is to know of a notification; nil where the payload defines no category, or one that is not to be
    /// kept under its name.
    package func definition(in notification: borrowing PushNotification) -> DefinedCategory? {
        guard let category = notification.category, category.origin == .dynamic, let identifier = category.identifier,
            Self.isShownBySystem(notification), !category.actions.isEmpty, statics[identifier] == nil,
            // SQLite's functions end a text at NUL: a list by identifier would not go on behind such a category.
            !identifier.utf8.contains(0)
        else { return nil }
        // No other name begins so: see below.
        return DefinedCategory(identifier, isNamedByDefinition: identifier.hasPrefix(Self.prefix)) {
            CategoryRecord(category).flatMap { $0.definition.count <= Self.longestDefinition ? $0 : nil }
        }
    }

    private static func isShownBySystem(_ notification: borrowing PushNotification) -> Bool {
        switch notification.kind {
        case .inAppMessage, .inline, .control: false
        default: true
        }
    }

    private func name(of category: Category) -> String {
        Self.prefix + digest(CategoryDefinition(category).bytes)
    }

    /// What the payload calls it stays, unless that is a name as they are made here and stands for other buttons: apps
    /// would get those under it.
    private func name(_ category: inout Category, _ notification: inout PushNotification) {
        guard !category.actions.isEmpty else { return }
        guard let given = category.identifier else {
            category.identifier = name(of: category)
            return
        }
        if given.hasPrefix(Self.prefix), case let name = name(of: category), name != given {
            category.identifier = name
            notification.warn(
                "category.reserved-identifier", "/category/identifier",
                "Names that begin with \(Self.prefix) are made of the buttons, and these make another.")
        }
        if statics[given] != nil {
            notification.warn(
                "category.redefines-static", "/category/identifier",
                "The config declares this category as one that the app compiled in; the payload defines it again.")
        }
    }

    // MARK: Labels

    private func lendLabels(to category: inout Category, _ notification: inout PushNotification) {
        guard let declared = category.identifier.flatMap({ statics[$0] }) else { return }
        let said = category.actions
        category.actions = declared.actions.map { button in
            var button = button
            if let behaviour = said.first(where: { $0.identifier == button.identifier })?.action {
                button.action = behaviour
            }
            return button
        }
        for button in said where !declared.actions.contains(where: { $0.identifier == button.identifier }) {
            notification.warn(
                "category.action-not-declared", "/category/actions/\(category.actions.count)",
                "The config declares the category without this action.")
            category.actions.append(button)
        }
    }
}
extension PushNotification {

    /// Notes what is wrong with a category. `path`: into the event's `data`.
    mutating func warn(_ code: String, _ path: String, _ message: String) {
        guard warnings.count < PushNotification.mostWarnings else { return }
        warnings.append(Warning(code, at: path, message))
    }
}
