import SignalboxJSON

// The keys of MCE's payloads and how they are read (IBM, "Default actions for mobile app messages";
// Acoustic-Mobile-Push/iOS and Android, SDK sources and plug-ins).

// MARK: Keys

extension MCE {
    // Actions are consumed completely: values without a field of their own become arguments.
    /// An action, with all its parameters.
    private static let action = KeySchema.Value.unchecked(.object(.whole))
    /// A list of actions, which are the buttons.
    private static let actions = KeySchema.Value.unchecked(.list(.whole))
    /// A carousel: pictures with texts.
    private static let items = KeySchema.Value.object(
        KeySchema(["items": .list(KeySchema(["url": .text, "text": .text]))]))

    /// The event contains the message unchanged as its page.
    private static let inApp = KeySchema(
        [
            "rules": .strings, "maxViews": .integer, "template": .text,
            "content": .object(
                KeySchema(
                    ["title": .text, "text": .text, "image": .text, "mainImage": .text, "video": .text], others: .any)),
            "attribution": .text, "mailingId": .scalar, "inAppMessageId": .scalar,
        ], isWhole: true)

    /// `alert`: the object in FCM's data. `extra`: contains the carousel in an older form.
    private static func root(alert: KeySchema = KeySchema([:]), extra: KeySchema.Value = .unread) -> KeySchema {
        KeySchema([
            "notification-action": action, "category-actions": actions, "category-name": .text,
            "media-attachment": .text, "alert": .unchecked(.objectOrText(alert)),
            "mce": .objectOrText(KeySchema(["attribution": .text, "mailingId": .scalar, "inAppMessageId": .scalar])),
            "inApp": .objectOrText(inApp), "carousel": items, "extra": extra,
        ])
    }

    /// `payload`: the carousel. `value`: the picture of an expandable notification.
    private static func android(payload: KeySchema.Value = .unread, value: KeySchema.Value = .text) -> KeySchema {
        root(
            alert: KeySchema([
                "subject": .text, "message": .text, "sound": .text, "badge": .integer, "icon": .link, "type": .text,
                "notification-action": action, "action": action, "payload": payload,
                "expandable": .objectOrText(
                    KeySchema([
                        "type": .text, "value": value, "image": .text, "actions": actions,
                        "expandable-actions": actions,
                    ])),
            ]))
    }

    /// A payload for APNs with the carousel under its present key.
    private static let apple = root()
    /// A payload for APNs without that key.
    private static let appleExtra = root(extra: items)
    /// FCM's data whose expandable notification shows a picture.
    private static let image = android()
    /// FCM's data whose expandable notification shows a text: the app keeps its value.
    private static let text = android(value: .unread)
    /// A carousel of Android's plug-in.
    private static let pages = KeySchema.Value.objectOrText(KeySchema(["carousel": .list(KeySchema(["image": .text]))]))
    /// FCM's data with a carousel.
    private static let carousel = android(payload: pages)
    /// FCM's data with a carousel and an expandable text.
    private static let carouselAndText = android(payload: pages, value: .unread)

    /// The consumed keys of a payload, which depend on the types that it names. `alert`: the object in FCM's data.
    fileprivate static func keys(of payload: borrowing PlatformPayload, _ alert: JSONValue?) -> KeySchema {
        guard let alert else { return payload["carousel"] == nil ? appleExtra : apple }
        let expandable = payload.parser.object(alert["expandable"])
        let isText = expandable?["type"]?.equals("text") == true
        let isCarousel = alert["type"]?.equals("carousel") == true
        return isCarousel ? (isText ? carouselAndText : carousel) : isText ? text : image
    }

    /// The name of the category in `aps`, if `category-name` replaces it.
    fileprivate static func replacedCategory(in payload: borrowing PlatformPayload) -> JSONValue? {
        guard let name = payload["category-name"]?.text, let own = payload.aps?["category"], own.hasText,
            !own.isScalar(withText: name)
        else { return nil }
        return own
    }
}

extension PushNotification {
    /// Reads the keys of both platforms: some senders mix them.
    mutating func readMCE(_ payload: borrowing PlatformPayload) {
        let parser = payload.parser
        readCampaign(parser.object(payload["mce"]))
        let alert = parser.object(payload["alert"])
        if let alert {
            readAndroid(JSONObject(alert), in: parser)
        } else if devices == .fcm, let text = payload["alert"] {
            warn("mce.alert-not-an-object", "The alert is not the JSON text of an object.", at: text, in: parser)
        }
        readApple(payload)
        readInApp(parser.object(payload["inApp"]).map { JSONObject($0) }, in: parser)
        fillCustom(from: payload, except: MCE.keys(of: payload, alert), keeping: MCE.replacedCategory(in: payload))
    }

    /// `mailingId` is a number in some payloads, a string in others (Acoustic-Mobile-Push/iOS).
    private mutating func readCampaign(_ mce: JSONValue?) {
        guard let mce else { return }
        var read = campaign ?? Campaign()
        read.id = read.id ?? mce["mailingId"]?.scalarText
        read.name = read.name ?? mce["attribution"]?.text
        read.messageId = read.messageId ?? mce["inAppMessageId"]?.scalarText
        campaign = read.ifSet
    }

    // MARK: Keys next to aps

    /// Reads action, attachment, category and carousel.
    private mutating func readApple(_ payload: borrowing PlatformPayload) {
        let parser = payload.parser
        if let value = payload["notification-action"] { action = readMCEAction(value, in: parser) ?? action }
        if addMedia(payload["media-attachment"], as: .attachment) != nil {
            warnUnlessMutable(payload.aps, "media-attachment", in: parser)
        }
        readCategory(payload)
        // The carousel plug-in reads `carousel`, an older form `extra` (Acoustic-Mobile-Push/iOS, Image Carousel
        // Plugin).
        let given = payload["carousel"]?["items"] ?? payload["extra"]?["items"]
        guard let list = bounded(given, "mce.too-many-items", in: parser) else { return }
        carousel = Carousel(
            items: list.filter(\.isObject).map { item in
                .init(caption: item["text"]?.text, media: addMedia(item["url"], as: .carousel))
            })
    }

    /// The SDK makes a category of the actions and gives it a random name unless `category-name` specifies one; a name
    /// without actions is that of a category compiled into the app. The name in `aps` counts without `category-name`,
    /// and stays in ``custom`` if that replaces it.
    private mutating func readCategory(_ payload: borrowing PlatformPayload) {
        let name = payload["category-name"]?.text
        guard let list = payload["category-actions"], list.isArray else {
            if let name { category = .named(name) }
            return
        }
        vendorKind = "dynamic-category"
        category = Category(
            identifier: name ?? category?.identifier, origin: .dynamic,
            actions: readMCEButtons(list, needFlags: true, in: payload.parser))
        warnUnlessMutable(payload.aps, "category-actions", in: payload.parser)
    }

    /// The service extension that adds attachments and categories runs only for mutable content.
    private mutating func warnUnlessMutable(_ aps: JSONValue?, _ key: String, in parser: JSONParser) {
        guard let aps, aps["mutable-content"]?.appleFlag != true else { return }
        warn(
            "mce.mutable-content-missing", "\(key) has no effect unless mutable-content is 1.", key: "mutable-content",
            of: aps, in: parser)
    }

    // MARK: The object in FCM's data

    /// Reads texts, action, icon, the expandable part and the carousel.
    private mutating func readAndroid(_ alert: JSONObject, in parser: JSONParser) {
        if let subject = alert["subject"]?.text { content.title = subject }
        if let message = alert["message"]?.text { content.body = message }
        if let sound = alert["sound"]?.text { content.sound = sound }
        // -1 means no badge.
        if let badge = alert["badge"]?.number, badge >= 0 { content.badge = badge }
        if content.title != nil || content.body != nil { kind = .alert }
        if let value = alert["notification-action"] ?? alert["action"] { action = readMCEAction(value, in: parser) }
        if let icon = alert["icon"], icon.isRemote { addMedia(icon, as: .icon) }
        if let expandable = parser.object(alert["expandable"]) { readExpandable(expandable, in: parser) }
        vendorKind = alert["type"]?.text ?? vendorKind
        guard alert["type"]?.equals("carousel") == true,
            let list = bounded(parser.object(alert["payload"])?["carousel"], "mce.too-many-items", in: parser)
        else { return }
        carousel = Carousel(
            items: list.filter(\.isObject).map { item in
                let action = item["action"]
                let link = action?["type"]?.equals("url") == true ? action?["value"]?.text : nil
                return .init(
                    caption: action?["name"]?.text, url: link, media: addMedia(item["image"], as: .carousel))
            })
    }

    /// The picture and the buttons of an expanded notification.
    private mutating func readExpandable(_ expandable: JSONValue, in parser: JSONParser) {
        let isImage = expandable["type"]?.equals("image") == true
        addMedia(expandable[isImage ? "value" : "image"], as: .attachment, kind: .image)
        let list = expandable["expandable-actions"] ?? expandable["actions"]
        let buttons = readMCEButtons(list, needFlags: false, in: parser)
        if !buttons.isEmpty { vendorKind = "dynamic-category" }
        defineCategory(buttons)
    }

    // MARK: In-app messages

    /// A message for the app's own views, which a push delivers (Acoustic-Mobile-Push/iOS, in-app plug-ins).
    private mutating func readInApp(_ message: JSONObject?, in parser: JSONParser) {
        guard let message else { return }
        let content = message["content"].map { JSONObject($0) }
        kind = .inAppMessage
        vendorKind = "inApp"
        inApp = InApp(layout: message["template"]?.text, pages: [JSONText(message.value)])
        fillTexts(title: content?["title"], subtitle: nil, body: content?["text"])
        readCampaign(message.value)
        if action == nil, let value = content?["action"] { action = readMCEAction(value, in: parser) }
        for url in [content?["image"], content?["mainImage"]] { addMedia(url, as: .background, kind: .image) }
        addMedia(content?["video"], as: .background, kind: .video)
        // Acoustic's own sample misspells the key; the SDK does not know it and uses its default.
        if let misspelt = message["expriationDate"] {
            warn(
                "mce.expiration-date-misspelt", "The key is expirationDate; the misspelt key has no effect.",
                at: misspelt, in: parser)
        }
        let start = message["triggerDate"] ?? message["sendDate"]
        let trigger = date(start, in: parser)
        let expiration = date(message["expirationDate"], in: parser)
        if trigger != nil || expiration != nil {
            schedule = Schedule(notBefore: trigger?.text, notAfter: expiration?.text)
        }
        guard readsMessages else { return }
        // A message whose period cannot be read is shown at no time.
        let isReadable = [(start, trigger), (message["expirationDate"], expiration)].allSatisfy { value, date in
            date != nil || value == nil
        }
        if isReadable { bringMCEMessage(message.value, from: trigger, to: expiration, in: parser) }
    }

    /// ISO 8601, or seconds since 1970 (ibm-mobile-push/cordova).
    private mutating func date(_ value: JSONValue?, in parser: JSONParser) -> Timestamp? {
        guard let value else { return nil }
        let date = value.utf8.map { Timestamp(iso8601: $0) } ?? value.integer.map { Timestamp(seconds: $0) }
        if let date, let date { return date }
        warn("mce.date-invalid", "Invalid date; expected a form like 2012-04-23T18:25:43Z.", at: value, in: parser)
        return nil
    }
}
