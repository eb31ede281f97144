import SignalboxInApp
import SignalboxJSON

// Banners, mandatory upgrades and walkthroughs as messages of the in-app engine (Synerise, "Campaigns: banners",
// "Campaigns: walkthrough"). The key `trigger` and the id of a walkthrough are in the Android SDK's classes
// `TemplateBanner` and `WalkthroughResponse`, which no document of Synerise's describes.

extension PushNotification {
    /// Adds the message of a banner or a walkthrough; other pushes bring none. The SDK ignores pages with a layout
    /// that it does not know.
    mutating func bringSyneriseMessage(_ content: JSONValue, in parser: JSONParser) {
        guard readsMessages else { return }
        switch kind {
        case .banner, .mandatoryUpgrade:
            guard let page = content["page"], page.isObject, Synerise.hasKnownLayout(page) else { return }
            bringBanner(content, page, in: parser)
        case .walkthrough:
            let pages = content["pages"]?.elements.prefix(longestList).filter { $0.isObject } ?? []
            guard pages.contains(where: Synerise.hasKnownLayout) else { return }
            // At the launch of the app, unless it was the last one shown.
            var pushed = PushedMessage(
                vendor, id: content["id"]?.scalarText ?? campaign?.id, kind: .walkthrough, triggers: [.sessionStart],
                content: JSONText(content))
            pushed.message.requirements.assets = Synerise.images(of: pages)
            finish(pushed, from: content, in: parser)
        default: return
        }
    }

    /// A banner without a trigger is shown at once, and once: the push is its event. With a trigger it is shown at
    /// each event of that name.
    private mutating func bringBanner(_ content: JSONValue, _ page: JSONValue, in parser: JSONParser) {
        var trigger: MessageTrigger?
        if let event = content["trigger"], !event.isNull {
            guard let name = event.text else {
                return rejectMessage("The banner's trigger is not the name of an event.", at: event, in: parser)
            }
            trigger = .event(name: name, filter: nil)
        } else if let type = content["campaign"]?["type"], type.utf8?.equalsIgnoringCase("trigger") == true {
            // Unverified: the documents name the value TRIGGER, but not its key.
            return rejectMessage("The banner has a trigger but no event name.", at: type, in: parser)
        }
        var pushed = PushedMessage(
            vendor, id: campaign?.id, kind: .banner, triggers: [trigger ?? .immediate],
            reEligibility: trigger == nil ? .never : nil, content: JSONText(content))
        if trigger == nil { pushed.lifetime = PushedMessage.pushLifetime }
        pushed.message.asksApp = true
        pushed.message.isBlocking = kind == .mandatoryUpgrade
        pushed.message.requirements.assets = Synerise.images(of: [page])
        pushed.action = action
        finish(pushed, from: content, in: parser)
    }

    private mutating func finish(_ pushed: PushedMessage, from content: JSONValue, in parser: JSONParser) {
        var pushed = pushed
        pushed.message.campaign = campaign?.id
        bring(pushed, from: content, in: parser)
    }
}

extension Synerise {
    /// The layouts that Synerise documents.
    static let layouts = [
        "color_as_background", "image_as_background", "image_with_text_atop", "image_with_text_below",
    ]

    fileprivate static func hasKnownLayout(_ page: JSONValue) -> Bool {
        page["type"]?.text.map { layouts.contains($0) } ?? false
    }

    /// The images without which the SDK does not show the pages: those of layouts with an image (`InjectorSDK`,
    /// `ImageBasePage`).
    fileprivate static func images(of pages: [JSONValue]) -> Set<String> {
        PushedMessage.assets(
            pages.map { $0["type"]?.utf8?.hasPrefix("image_") == true ? $0["image"]?["url"]?.text : nil })
    }
}
