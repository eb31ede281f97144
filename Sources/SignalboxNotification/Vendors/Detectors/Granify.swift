import SignalboxJSON

/// Granify's labels of inline views: `name`, `product_id`, `sku`. They come through no push service and nothing in them
/// says whose they are, so they are read only from a source that is configured as Granify (Granify, "Inlines").
struct Granify: VendorDetector {
    static let name = "granify"
    var vendor: VendorID { VendorID(Self.name) }
    var looksAt: [StaticString] { [] }
    var looksFor: String { "nothing: only a source that is configured as Granify's has its labels" }

    func detect(_ payload: borrowing PlatformPayload) -> Detection? { nil }

    func read(_ payload: borrowing PlatformPayload, into notification: inout PushNotification) {
        notification.platform = .unknown
        notification.kind = .inline
        let name = payload["name"]
        if name?.hasText != true {
            notification.warn(
                "granify.name-missing", "A label has a name.", key: "name", of: payload.root, in: payload.parser)
        }
        let inline = PushNotification.Inline(
            name: name?.text, productId: payload["product_id"]?.spelled, sku: payload["sku"]?.spelled)
        notification.inline = inline
        if let sku = payload["sku"], inline.sku != nil, inline.productId == nil {
            notification.warn(
                "granify.product-id-missing", "A sku tells apart the products of one product_id, which is missing.",
                at: sku, in: payload.parser)
        }
        notification.custom = CustomFields.text(of: payload, except: Self.label, &notification)
    }

    /// The documents print `product_id` without quotes.
    private static let label = Shape(["name": .text, "product_id": .scalar, "sku": .scalar])
}
