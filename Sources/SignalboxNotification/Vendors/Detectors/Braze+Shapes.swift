// What is read of Braze's objects and flat keys.

extension Braze {
    static let appleKeys = appleKeys(apple: .unread)

    /// A push without an alert shows the contents of `apple`.
    static let silentAppleKeys = appleKeys(
        apple: .object(Shape(["alert": .objectOrString(alert), "sound": .text, "badge": .integer])))

    private static func appleKeys(apple: Shape.Value) -> Shape {
        let ab = Shape([
            "c": .text, "att": .object(Shape(["url": .text, "type": .text])),
            "ab_cat": .map(Shape(["a_t": .text, "a_uri": .text, "a_use_webview": .scalar])),
            "ab_carousel": .scalar,
            "c_items": .list(Shape(["i": .text, "i_t": .text, "t": .text, "st": .text, "uri": .text])),
            "apple": apple,
        ])
        return Shape([
            "ab": .object(ab), "ab_uri": .text, "ab_use_webview": .scalar, "ab_sync_geos": .scalar,
            "ab_push_fetch_test_triggers_key": .scalar, "appboy_uninstall_tracking": .scalar,
        ])
    }

    private static let alert = Shape([
        "title": .text, "subtitle": .text, "body": .text, "title-loc-key": .text, "title-loc-args": .strings,
        "subtitle-loc-key": .text, "subtitle-loc-args": .strings, "loc-key": .text, "loc-args": .strings,
        "sound": .text, "badge": .integer,
    ])

    /// FCM makes strings of all values. Of some keys only the presence counts.
    static let androidKeys = Shape([
        "_ab": .any, "t": .scalar, "a": .scalar, "s": .scalar, "uri": .text, "cid": .scalar, "br_p_id": .scalar,
        "extra": .unchecked(.objectOrText(Shape([:], others: .any))), "sd": .text, "ab_bc": .integer,
        "ab_nc": .scalar, "ab_use_webview": .scalar, "ab_iu": .text, "ab_iip": .any, "ab_li": .text, "ab_c": .any,
        "ab_cp": .any, "ab_sync_geos": .any, "br_ffr": .any, "br_br": .any, "ab_push_fetch_test_triggers_key": .any,
        "appboy_uninstall_tracking": .any,
    ])

    static let webKeys = Shape([
        "t": .text, "a": .text, "i": .text, "img": .text, "u": .text, "cid": .text,
        "e": .object(Shape([:], others: .any)),
        "pab": .list(Shape(["action": .scalar, "title": .text, "a": .text, "u": .text])),
    ])
}
