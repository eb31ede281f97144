import SignalboxInApp
import SignalboxNotification

extension PushNotification {
    /// Hashes the device tokens in all texts that come from the payload: a sender may put the token of a push into any
    /// of them, such as the query of a link.
    mutating func maskTokens(with mask: TokenMask) {
        maskContent(with: mask)
        maskActions(with: mask)
        maskViews(with: mask)
        maskMessages(with: mask)
        custom = custom.map { mask.masked($0) }
        mask.replace(in: &tag)
        mask.replace(in: &vendorKind)
        if var campaign = self.campaign {
            mask.replace(in: &campaign.id)
            mask.replace(in: &campaign.name)
            mask.replace(in: &campaign.type)
            mask.replace(in: &campaign.variant)
            mask.replace(in: &campaign.messageId)
            self.campaign = campaign
        }
        if var target = self.target {
            mask.replace(in: &target.topic)
            mask.replace(in: &target.condition)
            self.target = target
        }
        // A pointer can lead through a key that is a token.
        mask.replace(in: &detection.evidence)
        for position in warnings.indices {
            guard let path = mask.masked(warnings[position].path) else { continue }
            warnings[position] = Warning(warnings[position].code, at: path, warnings[position].message)
        }
    }

    /// Hashes the device tokens in the parameters of the request that brought the payload.
    mutating func maskTransport(with mask: TokenMask) {
        mask.replace(in: &tag)
        if let id = transport?.collapseId, let masked = mask.masked(id) { transport?.collapseId = masked }
    }

    private mutating func maskContent(with mask: TokenMask) {
        mask.replace(in: &content.title)
        mask.replace(in: &content.subtitle)
        mask.replace(in: &content.body)
        mask.replace(in: &content.sound)
        mask.replace(in: &content.threadId)
        mask.replace(in: &content.interruptionLevel)
        // Assigned only if it changes, because that allocates.
        var presentation = content.presentation
        mask.replace(in: &presentation.targetContentId)
        mask.replace(in: &presentation.filterCriteria)
        mask.replace(in: &presentation.channelId)
        if presentation != content.presentation { content.presentation = presentation }
        mask.replace(in: &content.localized.titleKey)
        mask.replace(in: &content.localized.titleArgs)
        mask.replace(in: &content.localized.subtitleKey)
        mask.replace(in: &content.localized.subtitleArgs)
        mask.replace(in: &content.localized.bodyKey)
        mask.replace(in: &content.localized.bodyArgs)
    }

    private mutating func maskActions(with mask: TokenMask) {
        if var action = self.action {
            mask.replace(in: &action)
            self.action = action
        }
        // Taken, so that the buttons are changed in place.
        guard var category = self.category.take() else { return }
        mask.replace(in: &category.identifier)
        for position in category.actions.indices {
            mask.replace(in: &category.actions[position].identifier)
            mask.replace(in: &category.actions[position].title)
            mask.replace(in: &category.actions[position].action)
            guard var input = category.actions[position].textInput else { continue }
            mask.replace(in: &input.buttonTitle)
            mask.replace(in: &input.placeholder)
            category.actions[position].textInput = input
        }
        self.category = category
    }

    /// Media, carousel, content for views of the app, and Live Activities.
    private mutating func maskViews(with mask: TokenMask) {
        for position in media.indices {
            mask.replace(in: &media[position].url)
            mask.replace(in: &media[position].contentType)
        }
        if var carousel = self.carousel.take() {
            for position in carousel.items.indices {
                mask.replace(in: &carousel.items[position].caption)
                mask.replace(in: &carousel.items[position].subcaption)
                mask.replace(in: &carousel.items[position].url)
            }
            self.carousel = carousel
        }
        if var inApp = self.inApp {
            mask.replace(in: &inApp.layout)
            inApp.pages = inApp.pages.map { mask.masked($0) }
            self.inApp = inApp
        }
        if var inline = self.inline {
            mask.replace(in: &inline.name)
            mask.replace(in: &inline.productId)
            mask.replace(in: &inline.sku)
            self.inline = inline
        }
        if var activity = liveActivity {
            mask.replace(in: &activity.event)
            mask.replace(in: &activity.attributesType)
            activity.contentState = activity.contentState.map { mask.masked($0) }
            activity.attributes = activity.attributes.map { mask.masked($0) }
            liveActivity = activity
        }
    }

    private mutating func maskMessages(with mask: TokenMask) {
        for position in messages.indices {
            mask.replace(in: &messages[position].message.id)
            mask.replace(in: &messages[position].message.campaign)
            let assets = messages[position].message.requirements.assets
            messages[position].message.requirements.assets = Set(assets.map { mask.masked($0) ?? $0 })
            messages[position].content = messages[position].content.map { mask.masked($0) }
            if var action = messages[position].action {
                mask.replace(in: &action)
                messages[position].action = action
            }
        }
    }
}

extension TokenMask {
    /// Replaces the tokens in a text.
    fileprivate func replace(in text: inout String) {
        if let masked = masked(text) { text = masked }
    }

    /// The same for a text that may be absent.
    fileprivate func replace(in text: inout String?) {
        if let given = text, let masked = masked(given) { text = masked }
    }

    /// The same for several texts.
    fileprivate func replace(in texts: inout [String]) {
        for position in texts.indices { replace(in: &texts[position]) }
    }

    /// The same for the texts of an action.
    fileprivate func replace(in action: inout Action) {
        replace(in: &action.value)
        replace(in: &action.vendorType)
        action.arguments = action.arguments.map { masked($0) }
    }
}
