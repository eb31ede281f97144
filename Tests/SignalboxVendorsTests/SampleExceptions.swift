/// Samples that are not read as the index says: which of its fields, and why.
enum SampleExceptions {
    typealias Exception = (fields: [String], reason: String)

    static let all: [String: Exception] = [
        "braze/iam_custom_event.inapp.json": (["vendor", "kind"], inApp),
        "braze/iam_custom_event_property_and_or.inapp.json": (["vendor", "kind"], inApp),
        "braze/iam_custom_event_property_exists_date.inapp.json": (["vendor", "kind"], inApp),
        "braze/iam_html_full.inapp.json": (["vendor", "kind"], inApp),
        "braze/iam_iam_click.inapp.json": (["vendor", "kind"], inApp),
        "braze/iam_multiple_conditions_or.inapp.json": (["vendor", "kind"], inApp),
        "braze/iam_open.inapp.json": (["vendor", "kind"], inApp),
        "braze/iam_open_ended_window.inapp.json": (["vendor", "kind"], inApp),
        "braze/iam_priority_pair.inapp.json": (["vendor", "kind"], inApp),
        "braze/iam_purchase_any.inapp.json": (["vendor", "kind"], inApp),
        "braze/iam_purchase_product.inapp.json": (["vendor", "kind"], inApp),
        "braze/iam_purchase_property.inapp.json": (["vendor", "kind"], inApp),
        "braze/iam_push_click.inapp.json": (["vendor", "kind"], inApp),
        "braze/iam_slideup.inapp.json": (["vendor", "kind"], inApp),
        "braze/iam_templated.inapp.json": (["vendor", "kind"], inApp),
        "braze/iam_test.inapp.json": (["vendor", "kind"], inApp),
        "granify/label_cart_product.inline.json": (["vendor", "label"], granify),
        "granify/label_no_product.inline.json": (["vendor", "label"], granify),
        "granify/label_product_page.inline.json": (["vendor", "label"], granify),
        "granify/label_product_page_string_id.inline.json": (["vendor", "label"], granify),
        "granify/label_missing_name_negative.inline.json": (["malformed"], granify),
        "mce/action_dial.apns.json": (["deepLink"], actions),
        "mce/action_passbook.apns.json": (["deepLink"], actions),
    ]

    private static let inApp =
        "A trigger of the data endpoint, no push (reference, 4.4); in-app messages are not read yet."
    private static let granify = "Inlines bear no mark (reference, 8); they are read from a source that says Granify."
    private static let actions =
        "The index has a link; the contract has actions of their own, `dial` and `passbook`, with the same value (contract, 2)."
}
