/// What is wrong with the buttons of a notification as they will be shown. Paths lead into the event's `data`.
struct CategoryCheck {
    private let category: Category

    init(_ category: Category) { self.category = category }

    func warn(_ notification: inout PushNotification) {
        guard !category.actions.isEmpty else { return }
        warnOfTooMany(&notification)
        warnOfRepeats(&notification)
        warnOfMissingDefault(&notification)
    }

    /// Apple's systems show ten buttons where there is room, Android's notifications three (developer.apple.com,
    /// `UNNotificationCategory`; developer.android.com, `NotificationCompat.Builder.addAction`).
    private func warnOfTooMany(_ notification: inout PushNotification) {
        let (most, system): (Int, String)
        switch notification.platform {
        case .apns: (most, system) = (StaticCategories.mostActions, "Apple's systems show")
        case .fcm: (most, system) = (3, "Android shows")
        case .unknown: return
        }
        guard category.actions.count > most else { return }
        notification.warn(
            "category.too-many-actions", "/category/actions/\(most)", "\(system) \(most) actions at most.")
    }

    private func warnOfRepeats(_ notification: inout PushNotification) {
        for position in repeats() {
            notification.warn(
                "category.duplicate-identifier", "/category/actions/\(position)/identifier",
                "An earlier action has this identifier: the app cannot tell which of them was tapped.")
        }
    }

    /// A handful is looked through, more are hashed.
    private func repeats() -> [Int] {
        let actions = category.actions
        guard actions.count > 8 else {
            return actions.indices.filter { position in
                actions[..<position].contains { $0.identifier == actions[position].identifier }
            }
        }
        var seen: Set<String> = []
        return actions.indices.filter { !seen.insert(actions[$0].identifier).inserted }
    }

    /// "Always include a notification-action value" (IBM, "Default actions for mobile app messages"): without one, MCE's
    /// SDK does nothing when the notification itself is tapped. Other vendors' SDKs open the app then.
    private func warnOfMissingDefault(_ notification: inout PushNotification) {
        guard notification.vendor.name == "mce", notification.platform == .apns, notification.action == nil else {
            return
        }
        notification.warn(
            "category.default-action-missing", "/action",
            "Buttons alone say nothing of a tap on the notification itself: add a notification-action.")
    }
}
