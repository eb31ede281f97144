@testable import SignalboxNotification

/// Decides which key names identify their vendor.
enum SpecificName {
    /// Names that any app may use, of every length. Names of up to three characters are common too.
    static let common: Set<String> = [
        "action", "actions", "alert", "aps", "attachments", "attributes", "body", "buttons", "campaign", "category",
        "channel", "content", "custom", "customPayload", "data", "deeplink", "ems", "handler", "image", "imageUrl",
        "internalData", "issuer", "link", "ll", "media", "message", "messageId", "messageSource", "mp",
        "notification", "notificationType", "notification_id", "origin", "payload", "pushId", "pushType", "push_id",
        "receiver", "source", "stream", "subscription", "subtitle", "system", "systemType", "tapActionButtons", "text",
        "time", "title", "trackingUrl", "type", "uniqueKey", "url", "url_params", "experienceId", "scopeKey", "_sid",
        "clickUrl", "silent", "mediaUrl", "iconUrl", "action_type", "utm_source", "campaign_id", "x-sender",
    ]

    /// Common names that only one vendor sends together, by vendor. Each is from the source of its entry.
    static let together: [String: [Set<String>]] = [
        "klaviyo": [["body", "_k"]],
        "mindbox": [["uniqueKey", "clickUrl"], ["buttons", "uniqueKey"], ["uniqueKey", "imageUrl", "payload"]],
        "countly": [["c.i", "c.l"], ["c.i", "c.m"], ["c.i", "c.b"]],
        "cleverpush": [["notification", "subscription", "_id"]],
        "infobip": [["internalData", "messageId"]],
        "segment-engage": [["tapActionButtons", "onTap"]],
        "parse": [["push_id", "time", "data"]],
        "wonderpush": [["_wp", "c", "n"], ["_wp", "type", "c"], ["_wp", "type", "n"], ["_wp", "alert"]],
        "emarsys": [["ems", "u", "sid"]],
        "localytics": [["ll", "ca", "cr"]],
        "swrve": [["_p", "_sw"], ["_p", "_sd"], ["_p", "_td"], ["_p", "_sid"], ["_sp", "_td"], ["_sp", "_sw"]],
        "mixpanel": [["mp", "m", "c"]],
    ]

    /// Short names that still identify a vendor.
    private static let short: Set<String> = ["W$"]

    static func isSpecific(_ name: String) -> Bool {
        short.contains(name) || name.utf8.count > 3 && !common.contains(name)
    }
}

extension CatalogueMarker {
    /// The names of all keys that it requires, including prefixes.
    var names: Set<String> {
        Set(conditions.flatMap(\.names))
    }

    var hasSpecificName: Bool { names.contains(where: SpecificName.isSpecific) }

    /// True when it requires a specific name, a specific value, or names that belong together.
    func isSpecific(to vendor: VendorID) -> Bool {
        if hasSpecificName || conditions.contains(where: \.test.isSpecific) { return true }
        return (SpecificName.together[vendor.name] ?? []).contains { $0.count > 1 && $0.isSubset(of: names) }
    }
}

extension CatalogueCondition {
    fileprivate var names: [String] {
        switch subject {
        case .keyPrefix(let prefix, _): [String(decoding: prefix, as: UTF8.self)]
        case .path(let path):
            path.tokens.compactMap { token in
                if case .key(let key) = token { String(decoding: key, as: UTF8.self) } else { nil }
            }
        }
    }
}

extension CatalogueCondition.Test {
    /// True for a value that ordinary texts do not have by chance: a word of the vendor's, or the form of an
    /// identifier.
    fileprivate var isSpecific: Bool {
        switch self {
        case .equals(let text), .equalsIgnoringCase(let text): Self.isSpecific(text)
        case .startsWith(let text): Self.isSpecific(text) || text == "@"
        case .among(let words): words.allSatisfy(Self.isSpecific)
        case .host: true
        case .form(.uuid, _), .form(.ulid, _): true
        case .form(.hex, let length), .form(.digits, let length): length ?? 0 >= 16
        case .form(.url, _), .form(.alphanumeric, _), .form(.lettered, _), .form(.dateTime, _): false
        case .scalar, .integer: false
        case .present, .absent, .unset, .blank, .filled, .text, .object, .filledObject, .list, .isTrue, .moreThan,
            .notAmong:
            false
        }
    }

    private static func isSpecific(_ text: String) -> Bool {
        text.utf8.count >= 4 && !["true", "false", "http://", "https://", "default", "push"].contains(text)
    }
}
