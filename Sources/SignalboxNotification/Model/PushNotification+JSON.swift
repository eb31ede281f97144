package import SignalboxJSON

extension JSONWriter {
    /// Writes a notification as the `data` of its event. Field names and their order are those of the schema
    /// `urn:signalbox:schema:notification:1`. Unknown values are left out; there are no nulls.
    package mutating func notification(_ notification: PushNotification) {
        beginObject()
        member("vendor", notification.vendor.name)
        object("detection") { json in
            json.member("evidence", notification.detection.evidence)
            json.array("also", of: notification.detection.also) { $0.string($1.name) }
        }
        member("platform", notification.platform.rawValue)
        member("kind", notification.kind.rawValue)
        member("vendorKind", notification.vendorKind)
        object("campaign", notification.campaign) { json, campaign in
            json.member("id", campaign.id)
            json.member("name", campaign.name)
            json.member("type", campaign.type)
            json.member("variant", campaign.variant)
            json.member("messageId", campaign.messageId)
        }
        content(notification.content)
        object("action", notification.action) { $0.actionMembers($1) }
        if let category = notification.category { self.category(category) }
        if !notification.media.isEmpty { media(notification.media) }
        views(notification)
        schedule(notification)
        member("tag", notification.tag)
        member("custom", notification.custom)
        if !notification.warnings.isEmpty { array("warnings", of: notification.warnings) { $0.warning($1) } }
        endObject()
    }

    // MARK: Content

    /// Writes the texts and signals; no member for a notification without any.
    private mutating func content(_ content: PushNotification.Content) {
        guard !content.isEmpty else { return }
        object("content") { json in
            json.member("title", content.title)
            json.member("subtitle", content.subtitle)
            json.member("body", content.body)
            json.member("sound", content.sound)
            json.member("badge", content.badge)
            json.member("threadId", content.threadId)
            json.member("interruptionLevel", content.interruptionLevel)
            if let score = content.relevanceScore { json.member("relevanceScore", double: score) }
            let presentation = content.presentation
            json.member("targetContentId", presentation.targetContentId)
            json.member("filterCriteria", presentation.filterCriteria)
            json.member("channelId", presentation.channelId)
            if !content.localized.isEmpty { json.localized(content.localized) }
        }
    }

    /// Writes the keys into the app's string tables. Empty lists of arguments are left out.
    private mutating func localized(_ localized: PushNotification.Localized) {
        object("localized") { json in
            json.member("titleKey", localized.titleKey)
            json.member("titleArgs", list: localized.titleArgs)
            json.member("subtitleKey", localized.subtitleKey)
            json.member("subtitleArgs", list: localized.subtitleArgs)
            json.member("bodyKey", localized.bodyKey)
            json.member("bodyArgs", list: localized.bodyArgs)
        }
    }

    /// Writes each medium, by position as the carousel refers to it.
    private mutating func media(_ media: [Media]) {
        objects("media", of: media) { json, item in
            json.member("url", item.url)
            json.member("role", item.role.rawValue)
            json.member("kind", item.kind?.rawValue)
            json.member("status", item.status.rawValue)
            json.member("contentType", item.contentType)
        }
    }

    // MARK: Actions

    /// Writes the members of an action into an open object.
    package mutating func actionMembers(_ action: Action) {
        member("type", action.type.rawValue)
        member("value", action.value)
        member("vendorType", action.vendorType)
        member("arguments", action.arguments)
    }

    /// Writes the buttons, even an empty list of a category that the payload only names.
    private mutating func category(_ category: Category) {
        object("category") { json in
            json.member("identifier", category.identifier)
            json.member("origin", category.origin.rawValue)
            // By position: a loop over the values copies each.
            json.array("actions", of: category.actions.indices) { $0.button(category.actions[$1]) }
        }
    }

    /// Writes a button: its action's members are its own.
    private mutating func button(_ button: Category.Button) {
        beginObject()
        member("identifier", button.identifier)
        member("title", button.title)
        actionMembers(button.action)
        options(button.options)
        if let input = button.textInput { textInput(input) }
        endObject()
    }

    /// Writes the options of a button as the member `options`; nothing for a button without options.
    package mutating func options(_ options: Category.Options) {
        guard !options.isEmpty else { return }
        key("options")
        beginArray()
        for (name, option) in Category.Options.named where options.contains(option) { string(name) }
        endArray()
    }

    /// Writes the text input of a button as the member `textInput`.
    mutating func textInput(_ input: Category.TextInput) {
        object("textInput") { json in
            json.member("buttonTitle", input.buttonTitle)
            json.member("placeholder", input.placeholder)
        }
    }

    // MARK: Presentation

    /// Writes the carousel, the content for views of the app, and the change of a Live Activity.
    private mutating func views(_ notification: PushNotification) {
        object("carousel", notification.carousel) { json, carousel in
            json.member("orientation", carousel.orientation)
            json.objects("items", of: carousel.items) { json, item in
                json.member("caption", item.caption)
                json.member("subcaption", item.subcaption)
                json.member("url", item.url)
                json.member("media", item.media)
            }
        }
        object("inApp", notification.inApp) { json, inApp in
            json.member("layout", inApp.layout)
            json.array("pages", of: inApp.pages) { $0.text($1) }
        }
        object("inline", notification.inline) { json, inline in
            json.member("name", inline.name)
            json.member("productId", inline.productId)
            json.member("sku", inline.sku)
        }
        object("liveActivity", notification.liveActivity) { json, activity in
            json.member("event", activity.event)
            json.member("timestamp", activity.timestamp)
            json.member("staleDate", activity.staleDate)
            json.member("dismissalDate", activity.dismissalDate)
            json.member("contentState", activity.contentState)
            json.member("attributesType", activity.attributesType)
            json.member("attributes", activity.attributes)
        }
    }

    /// Writes the period, the addressees and the parameters of the request.
    private mutating func schedule(_ notification: PushNotification) {
        object("schedule", notification.schedule) { json, schedule in
            json.member("mode", schedule.mode?.rawValue)
            json.member("notBefore", schedule.notBefore)
            json.member("notAfter", schedule.notAfter)
        }
        target(notification.target)
        object("transport", notification.transport) { json, transport in
            json.member("apnsId", transport.apnsId)
            json.member("priority", transport.priority)
            json.member("pushType", transport.pushType)
            json.member("collapseId", transport.collapseId)
            json.member("expiration", transport.expiration)
        }
    }

    /// Writes `target`; no member for nil.
    package mutating func target(_ target: PushNotification.Target?) {
        object("target", target) { json, target in
            json.member("token", target.token)
            json.member("topic", target.topic)
            json.member("condition", target.condition)
            json.member("channel", target.channel)
        }
    }

    /// Writes a warning as an object, in the form that events use.
    package mutating func warning(_ warning: Warning) {
        beginObject()
        member("code", warning.code)
        member("path", warning.path)
        member("message", warning.message)
        endObject()
    }
}

// MARK: Members

extension JSONWriter {
    /// Writes a member whose value is an object; no member for nil. `write` writes the members of that object.
    @inline(__always)
    private mutating func object<Value>(
        _ name: StaticString, _ value: Value?, _ write: (inout JSONWriter, Value) -> Void
    ) {
        guard let value else { return }
        object(name) { write(&$0, value) }
    }
}
