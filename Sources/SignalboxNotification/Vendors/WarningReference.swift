/// A warning code of an event, as docs/reference/warnings.md lists it. Codes are stable; a test compares this list
/// with the codes in the sources.
package struct WarningDescription: Sendable {
    /// The code; one that begins with `VENDOR.` exists for every vendor of the catalogue.
    package let code: String
    /// The condition, in Markdown.
    package let meaning: String

    /// `meaning`: one or two sentences for the documentation.
    private init(_ code: String, _ meaning: String) { (self.code, self.meaning) = (code, meaning) }

    /// Every code that events can have. `vendors`: the names of all vendors.
    package static func codes(of vendors: Set<String>) -> Set<String> {
        var codes: Set<String> = []
        for code in all.map(\.code) {
            if code.hasPrefix("VENDOR.") {
                for vendor in vendors { codes.insert(vendor + code.dropFirst("VENDOR".count)) }
            } else {
                codes.insert(code)
            }
        }
        return codes
    }

    /// Every code, grouped by component.
    package static let all = [
        Self("json.duplicate-key", "An object repeats a key. The last value is used."),
        Self("json.event-as-payload", "The payload is a CloudEvent or another webhook body of Signalbox."),

        Self("apns.aps-not-an-object", "`aps` is present but not an object."),
        Self("apns.payload-too-large", "The payload exceeds 4096 bytes. VoIP pushes may have 5120."),
        Self("apns.badge-not-a-number", "The badge is not a number. A string that spells a number is read."),
        Self("apns.alert-not-text", "The alert is neither a string nor an object."),
        Self("apns.sound-not-a-name", "The sound is neither a string nor an object."),
        Self("apns.category-not-a-string", "The category is not a string."),
        Self("apns.date-invalid", "A date of a Live Activity is not in seconds since 1970."),
        Self("apns.background-priority", "A request for a background push has priority 10, or none. APNs requires 5."),
        Self(
            "apns.push-type-unknown",
            "Pass-through: the gateway does not know the `apns-push-type`. Apple decides on it."),
        Self("apns.wrong-type", "A key of `aps` has a value of an unexpected type. The value is kept in `custom`."),

        Self("fcm.payload-too-large", "`data` and `notification` exceed 4096 bytes without white space."),
        Self("fcm.data-value-not-a-string", "HTTP v1: a value of `data` is not a string."),
        Self("fcm.condition-too-long", "The condition has more than five topics."),
        Self("fcm.condition-malformed", "The condition is not a string, or its syntax is invalid: Google rejects it."),
        Self("fcm.several-targets", "The message has more than one of token, fid, topic and condition."),
        Self("fcm.too-many-actions", "A web notification has more than 1,000 buttons. The rest is not read."),
        Self(
            "fcm.name-unknown", "Pass-through: the gateway does not know a name in the message. Google decides on it."),
        Self("fcm.wrong-type", "A key of FCM has a value of an unexpected type. The value is kept in `custom`."),

        Self("synerise.message-type-missing", "The key `message-type` is missing."),
        Self("synerise.content-type-missing", "The key `content-type` is missing."),
        Self("synerise.content-missing", "The key `content` is missing."),
        Self("synerise.content-type-unknown", "Synerise has no such `content-type`. Read as a simple push."),
        Self("synerise.content-encrypted", "The content is encrypted and was not read."),
        Self("synerise.content-not-an-object", "The content is neither an object nor the JSON text of one."),
        Self("synerise.command-incomplete", "A command lacks its class or method name."),
        Self("synerise.page-missing", "A banner has no page."),
        Self("synerise.layout-unknown", "Synerise has no such page layout."),
        Self("synerise.action-type-unknown", "Synerise has no such type of action."),
        Self("synerise.action-item-missing", "A link has no target."),
        Self("synerise.button-identifier-missing", "A button has no identifier. Its action is used instead."),
        Self("synerise.rich-media-type-unknown", "Synerise has no such type of rich media."),
        Self("synerise.image-missing", "Rich media has no image URL."),
        Self("synerise.orientation-unknown", "The carousel orientation is neither portrait nor landscape."),
        Self("synerise.too-many-buttons", "More than 1,000 buttons. The rest is not read."),
        Self("synerise.too-many-items", "More than 1,000 carousel items. The rest is not read."),
        Self("synerise.too-many-pages", "More than 1,000 pages. The rest is not read."),

        Self("sourse.title-missing", "The key `title` is missing."),
        Self("sourse.message-missing", "The key `message` is missing."),
        Self("sourse.value-not-a-string", "A value is not a string. Numbers and booleans are read."),
        Self("sourse.date-invalid", "A date is invalid and was not read."),
        Self("sourse.embargo-after-expiry", "The notification expires before it may be shown."),

        Self("mce.action-not-an-object", "An action is not an object."),
        Self("mce.action-type-missing", "An action has no type."),
        Self("mce.action-value-missing", "`url`, `dial`, `passbook` or a web view has no value."),
        Self("mce.action-name-missing", "A button has no title."),
        Self("mce.action-option-missing", "A button lacks an option that its type requires."),
        Self("mce.value-not-https", "A pass or web view has a value that is not an https URL."),
        Self("mce.of-other-platform", "A plug-in's key or type belongs to the other platform."),
        Self("mce.snooze-not-a-number", "The snooze minutes are neither a number nor a string that spells one."),
        Self(
            "mce.mutable-content-missing", "iOS will not show the attachment or category: `mutable-content` is not 1."),
        Self("mce.alert-not-an-object", "`alert` is not the JSON text of an object."),
        Self("mce.date-invalid", "A date is invalid and was not read."),
        Self("mce.expiration-date-misspelt", "The key is misspelt `expriationDate` and has no effect."),
        Self("mce.too-many-actions", "More than 1,000 buttons. The rest is not read."),
        Self("mce.too-many-items", "More than 1,000 carousel items. The rest is not read."),

        Self("braze.marker-not-exact", "`_ab` is true, but not exactly the string `true`."),
        Self("braze.extra-not-an-object", "`extra` is not the JSON text of an object."),
        Self("braze.button-after-gap", "A button follows one without a type. The SDK does not read it."),
        Self("braze.button-uri-missing", "A button that opens a link has no link."),
        Self("braze.action-type-missing", "A button's action has no type."),
        Self("braze.action-uri-missing", "A click action that opens a link has no link."),
        Self("braze.attachment-type-missing", "An attachment has no `type`. The SDK does not show it."),
        Self(
            "braze.condition-unknown",
            "With `inapp.payloads`: a trigger's condition has an unknown type. It brings no message."
        ),
        Self("braze.date-invalid", "A date of an in-app message is not in seconds since 1970."),
        Self("braze.too-many-buttons", "More than 1,000 buttons. The rest is not read."),
        Self("braze.too-many-pages", "More than 1,000 pages of a story. The rest is not read."),
        Self("braze.too-many-triggers", "More than 1,000 triggers. The rest is not read."),

        Self("granify.name-missing", "An inline label has no name."),
        Self("granify.product-id-missing", "A label has a `sku` without a `product_id`."),

        Self("VENDOR.text-expected", "Catalogue: a value is not a string. Kept in `custom`."),
        Self("VENDOR.list-expected", "Catalogue: a value is not an array. Kept in `custom`."),
        Self("VENDOR.date-expected", "Catalogue: a value is not a date. Kept in `custom`."),
        Self("VENDOR.embargo-after-expiry", "Catalogue: the notification expires before it may be shown."),
        Self("VENDOR.too-many-buttons", "Catalogue: more than 1,000 buttons. The rest is not read."),
        Self("VENDOR.too-many-items", "Catalogue: more than 1,000 carousel items. The rest is not read."),
        Self(
            "VENDOR.message-not-registered",
            "With `inapp.payloads`: the in-app message is unreadable or beyond a bound. The event is not affected."),
        Self("VENDOR.wrong-type", "Any vendor: a key has a value of an unexpected type. Kept in `custom`."),

        Self(
            "category.too-many-actions",
            "More buttons than the system shows: 10 on Apple's systems, 3 on Android. The path names the first extra one."
        ),
        Self("category.duplicate-identifier", "A button repeats the identifier of an earlier one."),
        Self("category.default-action-missing", "MCE on APNs: buttons without a default tap action."),
        Self("category.action-not-declared", "The config declares this category without the button. It is appended."),
        Self("category.redefines-static", "The payload defines a category that the config declares as compiled in."),
        Self(
            "category.reserved-identifier",
            "The payload names its category `signalbox-…`, but with other buttons. The category gets its own name."),

        Self("action.value-missing", "An action that needs a value has none. Not carried out."),
        Self("action.uri-invalid", "The value is not a URI (RFC 3986), or an http URL has no host. Not carried out."),
        Self("action.scheme-not-allowed", "`actions.schemes` does not allow the URI's scheme. Not carried out."),
        Self("action.not-https", "A pass or web view is not an https URL. Not carried out."),
        Self("action.phone-invalid", "The value is not a telephone number. Not carried out."),
        Self("action.snooze-invalid", "The snooze minutes are not a whole number from 1 to 10,080. Not carried out."),
        Self("action.snooze-too-long", "The notification expires before the snooze ends. Not carried out."),
        Self(
            "action.calendar-invalid",
            "The calendar action lacks a title or start, or ends before it starts. Not carried out."),
        Self("action.calendar-not-kept", "The calendar file could not be stored."),
        Self("action.time-zone-unknown", "The calendar action's time zone is unknown. UTC is used."),
        Self("action.argument-missing", "A required argument of `actions.types`, or a calendar end, is missing."),
        Self("action.argument-wrong-type", "An argument has another type than `actions.types` declares."),
        Self("action.argument-out-of-range", "An argument is outside the declared range."),
        Self("action.argument-not-allowed", "An argument is not one of the declared values."),
        Self("action.option-missing", "A button lacks an option that `actions.types` requires."),

        Self("media.content-type-mismatch", "A media server's `Content-Type` contradicts the file's content."),
        Self("media.extension-mismatch", "A media URL's extension contradicts the file's content."),

        Self("route.transform-failed", "A route's template did not produce JSON. The event carries only this warning."),
    ]
}
