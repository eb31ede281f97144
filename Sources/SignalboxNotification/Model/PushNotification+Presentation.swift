extension PushNotification.Content {
    /// What tells the system where and to whom a notification is shown.
    struct Presentation: Sendable, Equatable {
        var targetContentId: String?
        var filterCriteria: String?
        var channelId: String?
    }

    /// The window or screen of the app that shows what it is about.
    package var targetContentId: String? {
        get { presentation?.targetContentId }
        set {
            guard newValue != nil || presentation != nil else { return }
            var changed = presentation ?? Presentation()
            changed.targetContentId = newValue
            presentation = changed
        }
    }

    /// What a Focus decides by whether to show it.
    package var filterCriteria: String? {
        get { presentation?.filterCriteria }
        set {
            guard newValue != nil || presentation != nil else { return }
            var changed = presentation ?? Presentation()
            changed.filterCriteria = newValue
            presentation = changed
        }
    }

    /// Android's notification channel.
    package var channelId: String? {
        get { presentation?.channelId }
        set {
            guard newValue != nil || presentation != nil else { return }
            var changed = presentation ?? Presentation()
            changed.channelId = newValue
            presentation = changed
        }
    }
}
