import SignalboxJSON

// What is read of MCE's objects. Of an action everything is: what has no field of its own is among its arguments.

extension MCE {
    /// What is read of a payload: what stands where depends on the types that it names.
    static func shape(of payload: borrowing PlatformPayload, _ alert: JSONValue?) -> Shape {
        guard let alert else { return payload["carousel"] == nil ? appleExtra : apple }
        let expandable = payload.parser.object(alert["expandable"])
        let isText = expandable?["type"]?.equals("text") == true
        let isCarousel = alert["type"]?.equals("carousel") == true
        return isCarousel ? (isText ? carouselAndText : carousel) : isText ? text : image
    }

    private static let apple = root(alert: Shape([:]))
    /// The older form of the carousel.
    private static let appleExtra = root(alert: Shape([:]), extra: .object(Shape(["items": .list(item)])))
    private static let image = root(alert: alert(payload: .unread, value: .text))
    private static let text = root(alert: alert(payload: .unread, value: .unread))
    private static let carousel = root(alert: alert(payload: pages, value: .text))
    private static let carouselAndText = root(alert: alert(payload: pages, value: .unread))

    private static func root(alert: Shape, extra: Shape.Value = .unread) -> Shape {
        Shape([
            "notification-action": .unchecked(.object(anything)), "category-actions": .unchecked(.list(anything)),
            "category-name": .text, "media-attachment": .text, "alert": .unchecked(.objectOrText(alert)),
            "mce": .objectOrText(Shape(["attribution": .text, "mailingId": .scalar, "inAppMessageId": .scalar])),
            "inApp": .objectOrText(inApp), "carousel": .object(Shape(["items": .list(item)])), "extra": extra,
        ])
    }

    private static func alert(payload: Shape.Value, value: Shape.Value) -> Shape {
        Shape([
            "subject": .text, "message": .text, "sound": .text, "badge": .integer, "icon": .link, "type": .text,
            "notification-action": .unchecked(.object(anything)), "action": .unchecked(.object(anything)),
            "payload": payload,
            "expandable": .objectOrText(
                Shape([
                    "type": .text, "value": value, "image": .text, "actions": .unchecked(.list(anything)),
                    "expandable-actions": .unchecked(.list(anything)),
                ])),
        ])
    }

    private static let anything = Shape([:], isWhole: true)
    private static let item = Shape(["url": .text, "text": .text])
    private static let pages = Shape.Value.objectOrText(Shape(["carousel": .list(Shape(["image": .text]))]))

    /// Kept whole as the page of the message.
    private static let inApp = Shape(
        [
            "rules": .strings, "maxViews": .integer, "template": .text,
            "content": .object(
                Shape(
                    ["title": .text, "text": .text, "image": .text, "mainImage": .text, "video": .text], others: .any)),
            "attribution": .text, "mailingId": .scalar, "inAppMessageId": .scalar,
        ], isWhole: true)
}
