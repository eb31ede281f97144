/// Names every set of buttons and adds its titles: the stage between the vendor's reading and the event.
///
/// Ignores categories that the system does not show, such as the buttons of in-app messages.
package struct CategoryResolution: Sendable {
    /// Prefix of the names that this stage makes.
    package static let prefix = "signalbox-"
    /// The largest definition that the registry stores, in bytes; no system shows as much.
    private static let longestDefinition = 16 * 1024

    /// The declarations of the config.
    private let statics: StaticCategories
    /// Returns hexadecimal digits, equal only for equal bytes.
    private let digest: @Sendable ([UInt8]) -> String

    /// `statics`: the categories that the config declares. `digest`: returns hexadecimal digits that are equal only
    /// for equal bytes.
    package init(statics: StaticCategories, digest: @escaping @Sendable ([UInt8]) -> String) {
        (self.statics, self.digest) = (statics, digest)
    }

    /// Names the category, adds the titles that the config declares, and warns of mistakes. Paths of warnings are
    /// those of the event's data.
    package func resolve(_ notification: inout PushNotification) {
        guard var category = notification.category, Self.isShownBySystem(notification) else { return }
        switch category.origin {
        case .dynamic: name(&category, &notification)
        case .static: addTitles(to: &category, &notification)
        }
        notification.category = category
        if !category.actions.isEmpty { check(category, &notification) }
    }

    /// The category for the registry; nil unless the payload defines one that the registry may store under its name.
    package func definition(in notification: borrowing PushNotification) -> DefinedCategory? {
        guard let category = notification.category, category.origin == .dynamic, let identifier = category.identifier,
            Self.isShownBySystem(notification), !category.actions.isEmpty, statics[identifier] == nil,
            // SQLite's functions stop at a NUL, so a list by identifier would end at such a category.
            !identifier.utf8.contains(0)
        else { return nil }
        // `resolve` replaces other names with the prefix.
        return DefinedCategory(identifier, isNamedByDefinition: identifier.hasPrefix(Self.prefix)) {
            CategoryRecord(category).flatMap { $0.definition.count <= Self.longestDefinition ? $0 : nil }
        }
    }

    /// The app itself shows in-app messages and inline views; nothing shows a control push.
    private static func isShownBySystem(_ notification: borrowing PushNotification) -> Bool {
        switch notification.kind {
        case .inAppMessage, .inline, .control: false
        default: true
        }
    }

    /// The prefix and the digest of the buttons.
    private func name(of category: Category) -> String { Self.prefix + digest(CategoryDefinition(category).bytes) }

    /// Keeps the payload's name, unless it has the prefix and names other buttons, which apps would then get under it.
    private func name(_ category: inout Category, _ notification: inout PushNotification) {
        guard !category.actions.isEmpty else { return }
        guard let given = category.identifier else {
            category.identifier = name(of: category)
            return
        }
        if given.hasPrefix(Self.prefix), case let name = name(of: category), name != given {
            category.identifier = name
            notification.warn(
                "category.reserved-identifier", at: "/category/identifier",
                "Names that begin with \(Self.prefix) are derived from the buttons; this name is not.")
        }
        if statics[given] != nil {
            notification.warn(
                "category.redefines-static", at: "/category/identifier",
                "The config declares this category as one that the app defines; the payload defines it too.")
        }
    }

    /// Replaces the buttons of a static category with the declared ones, and keeps the payload's effects of them.
    private func addTitles(to category: inout Category, _ notification: inout PushNotification) {
        guard let declared = category.identifier.flatMap({ statics[$0] }) else { return }
        let given = category.actions
        category.actions = declared.actions.map { button in
            var button = button
            if let effect = given.first(where: { $0.identifier == button.identifier })?.action {
                button.action = effect
            }
            return button
        }
        for button in given where !declared.actions.contains(where: { $0.identifier == button.identifier }) {
            notification.warn(
                "category.action-not-declared", at: "/category/actions/\(category.actions.count)",
                "The config declares the category without this action.")
            category.actions.append(button)
        }
    }

    // MARK: Checks

    /// Warns of too many buttons, repeated identifiers and a missing default action.
    private func check(_ category: Category, _ notification: inout PushNotification) {
        if let (most, system) = Self.limit(on: notification.devices), category.actions.count > most {
            notification.warn(
                "category.too-many-actions", at: "/category/actions/\(most)", "\(system) at most \(most) actions.")
        }
        for position in repeats(in: category.actions) {
            notification.warn(
                "category.duplicate-identifier", at: "/category/actions/\(position)/identifier",
                "An earlier action has this identifier: the app cannot distinguish taps on them.")
        }
        // "Always include a notification-action value" (IBM, "Default actions for mobile app messages"): without one,
        // MCE's SDK ignores a tap on the notification itself. Other vendors' SDKs open the app.
        if notification.vendor.name == "mce", notification.devices == .apns, notification.action == nil {
            notification.warn(
                "category.default-action-missing", at: "/action", "No default tap action: add notification-action.")
        }
    }

    /// The buttons that a system shows (developer.apple.com, `UNNotificationCategory`; developer.android.com,
    /// `NotificationCompat.Builder.addAction`).
    private static func limit(on platform: Platform) -> (Int, String)? {
        switch platform {
        case .apns: (StaticCategories.mostActions, "Apple's systems show")
        case .fcm: (3, "Android shows")
        case .unknown: nil
        }
    }

    /// Positions of buttons with an earlier button's identifier. Compares up to eight, hashes more.
    private func repeats(in actions: [Category.Button]) -> [Int] {
        guard actions.count > 8 else {
            return actions.indices.filter { position in
                actions[..<position].contains { $0.identifier == actions[position].identifier }
            }
        }
        var seen: Set<String> = []
        return actions.indices.filter { !seen.insert(actions[$0].identifier).inserted }
    }
}
