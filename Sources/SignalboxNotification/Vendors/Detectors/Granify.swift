import SignalboxInApp
import SignalboxJSON

/// Granify's labels of inline views (Granify, "Inlines"):
///
///     {"name": "aboveCartPageTotal", "product_id": 123, "sku": "…"}
///
/// The app reads them from its own pages, not from a push. No key identifies the vendor, so they are read only from a
/// source that the config assigns to Granify.
struct Granify: VendorDetector {
    /// The vendor's name in events and in the config.
    static let name = "granify"
    let vendor = VendorID(Self.name)
    var looksAt: [StaticString] { [] }
    var looksFor: String { "nothing; \(Self.advice)" }
    private static let advice = "set `vendor` of a source to `granify` to read its labels"

    func explain(_ payload: borrowing PlatformPayload) -> [String] {
        ["\(vendor): no; no key identifies its labels; \(Self.advice)"]
    }

    func detect(_ payload: borrowing PlatformPayload) -> Detection? { nil }

    func read(_ payload: borrowing PlatformPayload, into notification: inout PushNotification) {
        let parser = payload.parser
        notification.platform = .unknown
        notification.kind = .inline
        let name = payload["name"]
        if name?.hasText != true {
            notification.warn(
                "granify.name-missing", "The label has no name.", key: "name", of: payload.root, in: parser)
        }
        let inline = PushNotification.Inline(
            name: name?.text, productId: payload["product_id"]?.scalarText, sku: payload["sku"]?.scalarText)
        notification.inline = inline
        if let sku = payload["sku"], inline.sku != nil, inline.productId == nil {
            notification.warn(
                "granify.product-id-missing", "The label has a sku, but no product_id.", at: sku, in: parser)
        }
        notification.fillCustom(from: payload, except: Self.label)
        if notification.readsMessages { notification.bringInline(inline, of: payload.root, in: parser) }
    }

    /// In the documents, `product_id` is a number.
    private static let label = KeySchema(["name": .text, "product_id": .scalar, "sku": .scalar])
}

extension PushNotification {
    /// Adds an inline message for the labelled slot. A label without a name, or with a `sku` but no `product_id`, is
    /// invalid and adds no message: such inlines are not displayed properly (Granify, "Inlines"). The label is all that
    /// Granify sends; the campaign's text comes from its SDK.
    fileprivate mutating func bringInline(_ inline: Inline, of label: JSONValue, in parser: JSONParser) {
        guard let name = inline.name, inline.sku == nil || inline.productId != nil else { return }
        let isReadable = [label["product_id"], label["sku"]].compactMap(\.self).allSatisfy { $0.scalarText != nil }
        guard isReadable, [inline.productId, inline.sku].allSatisfy({ $0?.utf8.count ?? 0 <= Bounds.nameLength }) else {
            return rejectMessage(
                "The product_id or the sku is too long, or neither a string nor a number.", at: label, in: parser)
        }
        let content = JSONText.object { json in
            json.member("name", name)
            json.member("productId", inline.productId)
            json.member("sku", inline.sku)
        }
        let slot = SlotLabel(name, productID: inline.productId, sku: inline.sku)
        bring(
            PushedMessage(vendor, id: nil, kind: .inline, triggers: [.slot(slot)], content: content),
            from: label, in: parser)
    }
}
