import SignalboxJSON

// Tools of every reader: bounded warnings, bounded lists, media, links and identifiers of buttons.

/// The most elements that readers read of a list; no screen shows as many.
let longestList = 1000

extension PushNotification {
    /// Records a mistake of a value, once even if several fields read it; see ``warn(_:at:_:)``.
    mutating func warn(_ code: String, _ message: String, at value: JSONValue, in parser: JSONParser) {
        guard warnings.count < Self.mostWarnings else { return }
        let warning = Warning(code, at: parser.pointer(to: value), message)
        if !warnings.contains(warning) { warnings.append(warning) }
    }

    /// Records a mistake of a key that an object lacks, or must not have.
    mutating func warn(_ code: String, _ message: String, key: String, of object: JSONValue, in parser: JSONParser) {
        warn(code, at: parser.pointer(to: object) + "/" + JSONPointer.escape(key), message)
    }

    /// The first elements of a list, with a warning if there are more than ``longestList``; nil for any other value.
    mutating func bounded(
        _ list: JSONValue?, _ code: String, in parser: JSONParser
    ) -> PrefixSequence<JSONValue.Elements>? {
        guard let list, list.isArray else { return nil }
        if list.elements.dropFirst(longestList).contains(where: { _ in true }) {
            warn(code, "Only the first \(longestList) elements are read.", at: list, in: parser)
        }
        return list.elements.prefix(longestList)
    }

    /// The objects of a list, each with its position; further elements as ``bounded(_:_:in:)``.
    mutating func boundedObjects(
        _ list: JSONValue?, _ code: String, in parser: JSONParser
    ) -> [(position: Int, value: JSONValue)] {
        bounded(list, code, in: parser)?.enumerated().compactMap { $1.isObject ? ($0, $1) : nil } ?? []
    }

    /// Appends an image, audio or video file and returns its index in ``media``; nil without a URL. `kind`: the family
    /// that the key of the URL names.
    @discardableResult
    mutating func addMedia(
        _ url: JSONValue?, as role: Media.Role, contentType: String? = nil, kind: MediaKind.Family? = nil
    ) -> Int? {
        url?.text.map { addMedia(at: $0, as: role, contentType: contentType, kind: kind) }
    }

    /// The same for a URL that is not empty.
    @discardableResult
    mutating func addMedia(
        at url: String, as role: Media.Role, contentType: String? = nil, kind: MediaKind.Family? = nil
    ) -> Int {
        media.append(Media(url: url, role: role, contentType: contentType, announced: kind))
        return media.count - 1
    }

    /// Sets the buttons that a payload defines; without buttons, keeps the category unchanged.
    mutating func defineCategory(_ buttons: [Category.Button], named identifier: String? = nil) {
        guard !buttons.isEmpty else { return }
        category = Category(identifier: identifier, origin: .dynamic, actions: buttons)
    }
}

extension Action {
    /// The effect of opening a link: the web for `http` and `https`, otherwise a location in an app. Nil without a
    /// link. `inWebView`: opens the link inside the app, unless only another part of the system can open its scheme
    /// (braze-android-sdk, UriAction.kt; mobile-messaging-sdk-ios, NotificationsInteractionService.swift).
    static func opening(_ link: JSONValue, inWebView: Bool = false, vendorType: String? = nil) -> Action? {
        link.text.map { opening($0, inWebView: inWebView, vendorType: vendorType) }
    }

    /// The same for a text that is not empty.
    static func opening(_ link: String, inWebView: Bool = false, vendorType: String? = nil) -> Action {
        let type: ActionType
        if inWebView, !link.isAppLink { type = .webView } else { type = link.isWebLink ? .openUrl : .deepLink }
        return Action(type, value: link, vendorType: vendorType)
    }

    /// The identifier of a button for which the vendor sends none: its type and its value.
    var identifier: String {
        let word = vendorType ?? type.rawValue
        return value.map { word + ":" + $0 } ?? word
    }
}

/// Identifiers for the buttons of one category for which the vendor sends none. Equal buttons get equal identifiers in
/// every position and payload. The title, then a number, is appended if two buttons would share one.
struct ButtonIdentifiers {
    /// The first eight identifiers, repeats included.
    private var few: [String] = []
    /// Requests by identifier, once there are more than eight.
    private var counts: [String: Int] = [:]

    /// The identifier of the next button.
    mutating func next(for action: Action, title: String?) -> String {
        let short = action.identifier
        if record(short) == 1 { return short }
        let long = short + ":" + (title ?? "")
        let count = record(long)
        return count == 1 ? long : long + "#" + String(count)
    }

    /// Counts the requests for an identifier, this one included. Compares up to eight, hashes more.
    private mutating func record(_ identifier: String) -> Int {
        if few.count < 8 {
            few.append(identifier)
            return few.count { $0 == identifier }
        }
        if counts.isEmpty {
            for earlier in few { counts[earlier, default: 0] += 1 }
        }
        counts[identifier, default: 0] += 1
        return counts[identifier, default: 1]
    }
}
