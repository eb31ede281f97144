internal import Foundation
import SignalboxJSON

/// The effects of taps on the notification, on a button or on a picture.
extension CatalogueReading {
    /// The effect of a tap on the notification itself.
    mutating func tap(_ payload: borrowing PlatformPayload) -> Action? {
        guard
            payload.mayHave(fields.tap.word) || payload.mayHave(fields.tap.webView) || payload.mayHave(fields.tap.link)
                || payload.mayHave(fields.tap.richContent)
        else { return nil }
        return tap(fields.tap) { payload.value(at: $0) }
    }

    /// The effect of a tap: the meaning of the vendor's word, otherwise that of the link; nil without both. `find`
    /// returns the value at a path. Consumes the word, and the link if it decides the action.
    mutating func tap(_ tap: CatalogueTap, _ find: (CataloguePath) -> JSONValue?) -> Action? {
        var action = tapWithoutArguments(tap, find)
        if action?.type == .custom, let arguments = take(tap.arguments, find, where: \.isObject) {
            action?.arguments = JSONText(arguments)
        }
        return action
    }

    /// Determines the type and the value. A word that opens the app or closes the notification needs no link. A link
    /// with a meaning of its own stays in the action: as its value, or as the vendor's word for it.
    private mutating func tapWithoutArguments(_ tap: CatalogueTap, _ find: (CataloguePath) -> JSONValue?) -> Action? {
        let word = takeText(tap.word, find)
        let type = word.flatMap { tap.types[$0] ?? (tap.types.isEmpty ? nil : .custom) }
        if let type, type == .openApp || type == .dismiss { return Action(type, vendorType: word) }
        let trims = trimsLinks
        if let link = take(tap.webView, find, where: { $0.isLink(trimmed: trims) })?.text {
            return .opening(unwrapped(link), inWebView: true, vendorType: word)
        }
        if let type, type != .openUrl, type != .deepLink {
            return Action(type, value: takeLink(tap.link, find), vendorType: word)
        }
        if let link = take(tap.link, find, where: { $0.isLink(trimmed: trims) })?.text {
            guard let type = tap.links[link] else { return .opening(unwrapped(link), vendorType: word) }
            let isComplete = type == .openApp || type == .dismiss
            return isComplete ? Action(type, vendorType: link) : Action(type, value: link, vendorType: word)
        }
        let message = takeText(tap.richContent, find)
        if let message { return Action(.richContent, value: message, vendorType: word) }
        return word.map { Action(type == nil ? .custom : .openApp, vendorType: $0) }
    }

    // MARK: Links

    /// The text of a link of the first alternative with one, without the vendor's prefix.
    mutating func takeLink(_ paths: CataloguePaths, _ find: (CataloguePath) -> JSONValue?) -> String? {
        takeText(paths, find).map { unwrapped($0) }
    }

    /// The link itself if it is percent-encoded after ``CatalogueFields/linkPrefix``; otherwise the same text. Without
    /// the white space that the vendor's SDK removes.
    private func unwrapped(_ link: String) -> String {
        let link = trimsLinks ? link.trimmed : link
        guard let prefix = fields.linkPrefix?.utf8, link.utf8.starts(with: prefix) else { return link }
        let inner = String(Substring(link.utf8.dropFirst(prefix.count))).removingPercentEncoding ?? ""
        return inner.isEmpty ? link : inner
    }
}

extension JSONValue {
    /// True for a string that is not empty. `trimmed`: white space alone does not count.
    fileprivate func isLink(trimmed: Bool) -> Bool {
        guard let utf8, !utf8.isEmpty else { return false }
        return !trimmed || utf8.contains { $0 > UInt8(ascii: " ") }
    }
}

extension String {
    /// The text without spaces and control characters around it. SDKs remove these around links
    /// (OneSignal-Android-SDK, OSNotificationOpenBehaviorFromPushPayload.kt; notifly-android-sdk,
    /// NotificationOpenedActivity.kt).
    var trimmed: String {
        let isBlank = { (byte: UInt8) in byte <= UInt8(ascii: " ") }
        let start = utf8.drop(while: isBlank)
        guard let last = start.lastIndex(where: { !isBlank($0) }) else { return "" }
        return String(Substring(start[...last]))
    }
}
