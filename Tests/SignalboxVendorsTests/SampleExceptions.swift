/// Samples that are not read as the index says: which of its fields, and why.
enum SampleExceptions {
    typealias Exception = (fields: [String], reason: String)

    static let all: [String: Exception] = [
        "granify/label_cart_product.inline.json": (["vendor", "label"], granify),
        "granify/label_no_product.inline.json": (["vendor", "label"], granify),
        "granify/label_product_page.inline.json": (["vendor", "label"], granify),
        "granify/label_product_page_string_id.inline.json": (["vendor", "label"], granify),
        "klaviyo/basic.apns.json": (["buttons"], klaviyo),
        "granify/label_missing_name_negative.inline.json": (["malformed"], granify),
    ]

    private static let klaviyo =
        "The SDK shows no button without an action (klaviyo-swift-sdk, KlaviyoActionButtonParser.swift)."
    private static let granify = "Inlines bear no mark (reference, 8); they are read from a source that says Granify."
}
