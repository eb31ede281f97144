import SignalboxJSON

// The content of visible pushes, banners and walkthroughs (Synerise, "Campaigns: simple push", "Campaigns: banners",
// "Campaigns: walkthrough"). Events contain pages unchanged, so their schema only checks types.

extension Synerise {
    /// The effect of a tap: its type, and the link or key in `item`.
    private static let action = KeySchema(["type": .unchecked(.text), "item": .scalar])
    /// Pictures with texts and links.
    private static let carousel = KeySchema([
        "orientation": .unchecked(.text),
        "items": .list(KeySchema(["caption": .text, "subcaption": .text, "url": .text, "image": .text])),
    ])

    /// A visible push: the text, an action, buttons, and a picture or a carousel.
    static let simplePush = root(
        content: KeySchema([
            "campaign": .object(campaign),
            "notification": .object(
                KeySchema(["title": .text, "body": .text, "sound": .text, "icon": .link, "action": .object(action)])),
            "buttons": .list(KeySchema(["identifier": .scalar, "text": .text, "action": .object(action)])),
            "rich-media": .object(
                KeySchema([
                    "type": .unchecked(.text), "single-image": .object(KeySchema(["image": .text])),
                    "carousel": .object(carousel),
                ])),
        ]))

    /// The delay after which a banner disappears.
    private static let timer = KeySchema(["is_enabled": .scalar, "timeout": .number], others: .any)
    /// A text of a page with its style.
    private static let text = KeySchema(
        ["text": .text, "color": .text, "alpha": .number, "size": .number], others: .any)
    /// The button of a page with its style.
    private static let button = KeySchema(
        ["is_enabled": .scalar, "color": .text, "text": .text, "text_color": .text, "corner_radius": .number],
        others: .any)
    /// A page of a banner or walkthrough.
    private static let page = KeySchema(
        [
            "index": .integer, "type": .text, "action": .object(KeySchema(["item": .scalar], others: .any)),
            "background": .object(KeySchema(["color": .text, "alpha": .number], others: .any)),
            "image": .object(KeySchema(["url": .text], others: .any)), "header": .object(text),
            "description": .object(text), "button": .object(button),
            "close_button": .object(KeySchema(["is_enabled": .scalar, "alignment": .text], others: .any)),
        ], isWhole: true)

    /// A page over the whole screen, sent by a silent push.
    static let banner = root(
        content: KeySchema(["campaign": .object(campaign), "page": .object(page), "auto_disappear": .object(timer)]))

    /// Onboarding pages that the app shows before its first use.
    static let walkthrough = root(content: KeySchema(["campaign": .object(campaign), "pages": .list(page)]))
}

// MARK: Simple push

extension PushNotification {
    /// On APNs `aps` contains the text and `content.notification` at most the action; on FCM it contains both.
    mutating func readSimplePush(_ content: JSONValue, in parser: JSONParser) {
        let display = content["notification"]
        self.content.title = display?["title"]?.text ?? self.content.title
        self.content.body = display?["body"]?.text ?? self.content.body
        self.content.sound = display?["sound"]?.text ?? self.content.sound
        if self.content.title != nil || self.content.body != nil { kind = .alert }
        action = readAction(display?["action"], in: parser)
        readButtons(content["buttons"], in: parser)
        readRichMedia(content["rich-media"], in: parser)
        if let icon = display?["icon"], icon.isRemote { addMedia(icon, as: .icon) }
    }

    /// Without an action a tap opens the app. The documents spell the deep link's type in two ways.
    private mutating func readAction(_ action: JSONValue?, in parser: JSONParser) -> Action {
        guard let action = action.map({ JSONObject($0) }), let type = action["type"] else { return Action(.openApp) }
        let word = type.text
        let item = action["item"]
        let kind: Action.ActionType =
            switch word {
            case "OPEN_APP": .openApp
            case "OPEN_URL": .openUrl
            case "DEEP_LINKING", "DEEPLINKING": .deepLink
            default: .custom
            }
        if kind == .custom {
            warn("synerise.action-type-unknown", "Unknown type of Synerise action.", at: type, in: parser)
        } else if kind != .openApp, item?.hasText != true {
            warn(
                "synerise.action-item-missing", "This type of action needs an item.", key: "item",
                of: action.value, in: parser)
        }
        return Action(kind, value: item?.scalarText, vendorType: word)
    }

    /// Buttons keep Synerise's identifiers; without an identifier, the action identifies the button.
    private mutating func readButtons(_ list: JSONValue?, in parser: JSONParser) {
        var buttons: [Category.Button] = []
        for (_, value) in boundedObjects(list, "synerise.too-many-buttons", in: parser) {
            let button = JSONObject(value)
            let action = readAction(button["action"], in: parser)
            let identifier = button["identifier"]?.scalarText
            if identifier == nil {
                warn(
                    "synerise.button-identifier-missing", "The button has no identifier.", key: "identifier", of: value,
                    in: parser)
            }
            buttons.append(
                .init(identifier: identifier ?? action.identifier, title: button["text"]?.text, action: action))
        }
        defineCategory(buttons, named: category?.identifier)
    }

    /// `type` selects the picture or the carousel.
    private mutating func readRichMedia(_ media: JSONValue?, in parser: JSONParser) {
        guard let media = media.map({ JSONObject($0) }), let type = media["type"] else { return }
        switch type.string {
        case "single-image":
            if addMedia(media["single-image"]?["image"], as: .attachment, kind: .image) == nil {
                warn(
                    "synerise.image-missing", "The single image has no URL.", key: "single-image",
                    of: media.value, in: parser)
            }
        case "carousel": readCarousel(media["carousel"], in: parser)
        default: warn("synerise.rich-media-type-unknown", "Unknown type of Synerise rich media.", at: type, in: parser)
        }
    }

    /// Items without an image are kept, with a warning.
    private mutating func readCarousel(_ carousel: JSONValue?, in parser: JSONParser) {
        guard let carousel, let list = bounded(carousel["items"], "synerise.too-many-items", in: parser) else { return }
        var items: [Carousel.Item] = []
        for item in list where item.isObject {
            let media = addMedia(item["image"], as: .carousel)
            if media == nil {
                warn("synerise.image-missing", "The carousel item has no image.", key: "image", of: item, in: parser)
            }
            items.append(
                .init(
                    caption: item["caption"]?.text, subcaption: item["subcaption"]?.text, url: item["url"]?.text,
                    media: media))
        }
        self.carousel = Carousel(orientation: orientation(carousel["orientation"], in: parser), items: items)
    }

    /// `portrait` or `landscape`, in any case.
    private mutating func orientation(_ value: JSONValue?, in parser: JSONParser) -> String? {
        guard let value, !value.isNull else { return nil }
        let word = value.text?.lowercased()
        if word == "portrait" || word == "landscape" { return word }
        warn(
            "synerise.orientation-unknown", "Unknown carousel orientation; expected portrait or landscape.", at: value,
            in: parser)
        return nil
    }
}

// MARK: Banners and walkthroughs

extension PushNotification {
    /// Synerise's mandatory upgrade is a banner that the user cannot close. It has no type of its own.
    mutating func readBanner(_ content: JSONValue, _ payload: borrowing PlatformPayload) {
        let parser = payload.parser
        kind = .banner
        guard let page = content["page"], page.isObject else {
            // The documentation shows the structure of a push with empty content.
            guard !content.isEmptyContainer else { return }
            let object = payload["content"] ?? payload.root
            return warn("synerise.page-missing", "The banner has no page.", key: "page", of: object, in: parser)
        }
        let isClosable = page["close_button"].flatMap { JSONObject($0)["is_enabled"] }
        if isClosable?.appleFlag == false { kind = .mandatoryUpgrade }
        action = readAction(page["action"], in: parser)
        readPages([page], in: parser)
    }

    /// `content`: with the list `pages`.
    mutating func readWalkthrough(_ content: JSONValue, _ payload: borrowing PlatformPayload) {
        kind = .walkthrough
        readPages(
            boundedObjects(content["pages"], "synerise.too-many-pages", in: payload.parser).map(\.value),
            in: payload.parser)
    }

    /// The first page determines texts and layout.
    private mutating func readPages(_ pages: [JSONValue], in parser: JSONParser) {
        for page in pages { addMedia(page["image"]?["url"], as: .background, kind: .image) }
        let layouts = pages.map { layout(of: $0, in: parser) }
        content.title = content.title ?? pages.first?["header"]?["text"]?.text
        content.body = content.body ?? pages.first?["description"]?["text"]?.text
        inApp = InApp(layout: layouts.first ?? nil, pages: pages.map { JSONText($0) })
    }

    /// The type of a page, with a warning if Synerise does not document it.
    private mutating func layout(of page: JSONValue, in parser: JSONParser) -> String? {
        guard let type = page["type"], let layout = type.text else { return nil }
        if !Synerise.layouts.contains(layout) {
            warn("synerise.layout-unknown", "Unknown Synerise layout.", at: type, in: parser)
        }
        return layout
    }
}
