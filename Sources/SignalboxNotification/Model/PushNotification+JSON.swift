package import SignalboxJSON

extension JSONWriter {
    /// Writes a notification as the `data` of its event: the field names and their order are those of the schema
    /// `urn:signalbox:schema:notification:1`. What is unknown is left out; there are no nulls.
    package mutating func notification(_ notification: PushNotification) {
        beginObject()
        member("vendor", notification.vendor.name)
        detection(notification.detection)
        member("platform", notification.platform.rawValue)
        member("kind", notification.kind.rawValue)
        member("vendorKind", notification.vendorKind)
        if let campaign = notification.campaign { self.campaign(campaign) }
        content(notification.content)
        if let action = notification.action { self.action(action) }
        if let category = notification.category { self.category(category) }
        media(notification.media)
        if let carousel = notification.carousel { self.carousel(carousel) }
        if let inApp = notification.inApp { self.inApp(inApp) }
        if let inline = notification.inline { self.inline(inline) }
        if let activity = notification.liveActivity { liveActivity(activity) }
        if let schedule = notification.schedule { self.schedule(schedule) }
        if let target = notification.target { self.target(target) }
        member("tag", notification.tag)
        member("custom", notification.custom)
        warnings(notification.warnings)
        endObject()
    }

    // MARK: What identifies it

    private mutating func detection(_ detection: DetectionSummary) {
        key("detection" as StaticString)
        beginObject()
        key("evidence" as StaticString)
        beginArray()
        for pointer in detection.evidence { string(pointer) }
        endArray()
        key("also" as StaticString)
        beginArray()
        for vendor in detection.also { string(vendor.name) }
        endArray()
        endObject()
    }

    private mutating func campaign(_ campaign: PushNotification.Campaign) {
        key("campaign" as StaticString)
        beginObject()
        member("id", campaign.id)
        member("name", campaign.name)
        member("type", campaign.type)
        member("variant", campaign.variant)
        member("messageId", campaign.messageId)
        endObject()
    }

    private mutating func target(_ target: PushNotification.Target) {
        key("target" as StaticString)
        beginObject()
        member("token", target.token)
        member("topic", target.topic)
        member("condition", target.condition)
        endObject()
    }

    // MARK: What it says

    private mutating func content(_ content: PushNotification.Content) {
        guard !content.isEmpty else { return }
        key("content" as StaticString)
        beginObject()
        member("title", content.title)
        member("subtitle", content.subtitle)
        member("body", content.body)
        member("sound", content.sound)
        if let badge = content.badge {
            key("badge" as StaticString)
            integer(badge)
        }
        member("threadId", content.threadId)
        member("interruptionLevel", content.interruptionLevel)
        if let score = content.relevanceScore {
            key("relevanceScore" as StaticString)
            double(score)
        }
        if let presentation = content.presentation {
            member("targetContentId", presentation.targetContentId)
            member("filterCriteria", presentation.filterCriteria)
            member("channelId", presentation.channelId)
        }
        if !content.localized.isEmpty { localized(content.localized) }
        endObject()
    }

    private mutating func localized(_ localized: PushNotification.Localized) {
        key("localized" as StaticString)
        beginObject()
        member("titleKey", localized.titleKey)
        member("titleArgs", localized.titleArgs)
        member("subtitleKey", localized.subtitleKey)
        member("subtitleArgs", localized.subtitleArgs)
        member("bodyKey", localized.bodyKey)
        member("bodyArgs", localized.bodyArgs)
        endObject()
    }

    private mutating func media(_ media: [Media]) {
        guard !media.isEmpty else { return }
        key("media" as StaticString)
        beginArray()
        for item in media {
            beginObject()
            member("url", item.url)
            member("role", item.role.rawValue)
            member("status", item.status.rawValue)
            member("contentType", item.contentType)
            endObject()
        }
        endArray()
    }

    private mutating func carousel(_ carousel: PushNotification.Carousel) {
        key("carousel" as StaticString)
        beginObject()
        member("orientation", carousel.orientation)
        key("items" as StaticString)
        beginArray()
        for item in carousel.items {
            beginObject()
            member("caption", item.caption)
            member("subcaption", item.subcaption)
            member("url", item.url)
            if let media = item.media {
                key("media" as StaticString)
                integer(media)
            }
            endObject()
        }
        endArray()
        endObject()
    }

    // MARK: What can be done with it

    private mutating func action(_ action: Action) {
        key("action" as StaticString)
        beginObject()
        actionMembers(action)
        endObject()
    }

    /// The members of an action, into an object that is open.
    package mutating func actionMembers(_ action: Action) {
        member("type", action.type.rawValue)
        member("value", action.value)
        member("vendorType", action.vendorType)
        member("arguments", action.arguments)
    }

    private mutating func category(_ category: Category) {
        key("category" as StaticString)
        beginObject()
        member("identifier", category.identifier)
        member("origin", category.origin.rawValue)
        key("actions" as StaticString)
        beginArray()
        // By position: a loop over the values copies each.
        for position in category.actions.indices { button(category.actions[position]) }
        endArray()
        endObject()
    }

    private mutating func button(_ button: Category.Button) {
        beginObject()
        member("identifier", button.identifier)
        member("title", button.title)
        actionMembers(button.action)
        options(button.options)
        if let input = button.textInput {
            key("textInput" as StaticString)
            beginObject()
            member("buttonTitle", input.buttonTitle)
            member("placeholder", input.placeholder)
            endObject()
        }
        endObject()
    }

    /// Writes the options of a button as a member; nothing when there are none.
    package mutating func options(_ options: Category.Options) {
        guard !options.isEmpty else { return }
        key("options" as StaticString)
        beginArray()
        if options.contains(.authenticationRequired) { string("authenticationRequired" as StaticString) }
        if options.contains(.destructive) { string("destructive" as StaticString) }
        if options.contains(.foreground) { string("foreground" as StaticString) }
        endArray()
    }

    // MARK: Where and when it is shown

    private mutating func inApp(_ inApp: PushNotification.InApp) {
        key("inApp" as StaticString)
        beginObject()
        member("layout", inApp.layout)
        key("pages" as StaticString)
        beginArray()
        for page in inApp.pages { text(page) }
        endArray()
        endObject()
    }

    private mutating func inline(_ inline: PushNotification.Inline) {
        key("inline" as StaticString)
        beginObject()
        member("name", inline.name)
        member("productId", inline.productId)
        member("sku", inline.sku)
        endObject()
    }

    private mutating func liveActivity(_ activity: PushNotification.LiveActivity) {
        key("liveActivity" as StaticString)
        beginObject()
        member("event", activity.event)
        member("timestamp", activity.timestamp)
        member("staleDate", activity.staleDate)
        member("dismissalDate", activity.dismissalDate)
        member("contentState", activity.contentState)
        member("attributesType", activity.attributesType)
        member("attributes", activity.attributes)
        endObject()
    }

    private mutating func schedule(_ schedule: PushNotification.Schedule) {
        key("schedule" as StaticString)
        beginObject()
        member("mode", schedule.mode?.rawValue)
        member("notBefore", schedule.notBefore)
        member("notAfter", schedule.notAfter)
        endObject()
    }

    private mutating func warnings(_ warnings: [Warning]) {
        guard !warnings.isEmpty else { return }
        key("warnings" as StaticString)
        beginArray()
        for warning in warnings { self.warning(warning) }
        endArray()
    }

    /// Writes a warning as events have it.
    package mutating func warning(_ warning: Warning) {
        beginObject()
        member("code", warning.code)
        member("path", warning.path)
        member("message", warning.message)
        endObject()
    }

    // MARK: Members

    @inline(__always)
    private mutating func member(_ name: StaticString, _ texts: [String]) {
        guard !texts.isEmpty else { return }
        key(name)
        beginArray()
        for text in texts { string(text) }
        endArray()
    }
}

extension PushNotification.Content {
    fileprivate var isEmpty: Bool {
        title == nil && subtitle == nil && body == nil && sound == nil && badge == nil && threadId == nil
            && interruptionLevel == nil && relevanceScore == nil && presentation == nil && localized.isEmpty
    }
}
