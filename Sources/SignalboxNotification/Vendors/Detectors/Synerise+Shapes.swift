// What is read of the content of each type (Synerise, "Campaigns"). Pages are kept whole, so of them only the types count.

extension Synerise {
    static let simplePush = root(
        content: Shape([
            "campaign": .object(campaign),
            "notification": .object(
                Shape([
                    "title": .text, "body": .text, "sound": .text, "icon": .link, "action": .object(action),
                ])),
            "buttons": .list(Shape(["identifier": .scalar, "text": .text, "action": .object(action)])),
            "rich-media": .object(
                Shape([
                    "type": .unchecked(.text), "single-image": .object(Shape(["image": .text])),
                    "carousel": .object(carousel),
                ])),
        ]))

    static let banner = root(
        content: Shape(["campaign": .object(campaign), "page": .object(page), "auto_disappear": .object(timer)]))
    static let walkthrough = root(content: Shape(["campaign": .object(campaign), "pages": .list(page)]))
    static let inAppTest = root(content: Shape(["campaign": .object(campaign)]))

    /// The content is kept whole.
    static let command = root(
        content: Shape(
            ["class_name": .text, "method_name": .text, "method_parameters": .any],
            isWhole: true))

    /// Nobody can read the content.
    static let opaque = Shape(["issuer": .any, "message-type": .text, "content-type": .text])

    private static func root(content: Shape) -> Shape {
        Shape([
            "issuer": .any, "message-type": .text, "content-type": .text, "content": .objectOrText(content),
        ])
    }

    private static let campaign = Shape(["hash_id": .scalar, "title": .text, "type": .text, "variant_id": .scalar])
    private static let action = Shape(["type": .unchecked(.text), "item": .scalar])
    private static let carousel = Shape([
        "orientation": .unchecked(.text),
        "items": .list(Shape(["caption": .text, "subcaption": .text, "url": .text, "image": .text])),
    ])
    private static let timer = Shape(["is_enabled": .scalar, "timeout": .number], others: .any)

    private static let page = Shape(
        [
            "index": .integer, "type": .text, "action": .object(Shape(["item": .scalar], others: .any)),
            "background": .object(Shape(["color": .text, "alpha": .number], others: .any)),
            "image": .object(Shape(["url": .text], others: .any)), "header": .object(text),
            "description": .object(text),
            "button": .object(
                Shape(
                    [
                        "is_enabled": .scalar, "color": .text, "text": .text, "text_color": .text,
                        "corner_radius": .number,
                    ], others: .any)),
            "close_button": .object(Shape(["is_enabled": .scalar, "alignment": .text], others: .any)),
        ], isWhole: true)
    private static let text = Shape(
        ["text": .text, "color": .text, "alpha": .number, "size": .number], others: .any)
}
