package import SignalboxJSON

/// The push service that a payload is written for.
package enum Platform: String, Sendable, CaseIterable {
    /// The values of `platform` in events; `unknown` also for ADM and web push.
    case apns, fcm, unknown
}

/// The form in which a payload reached the gateway: one push can be logged, sent or received in several forms.
package enum Envelope: String, Sendable, CaseIterable {
    /// An APNs payload: the body of `/3/device/{token}`, or `userInfo`.
    case apns
    /// `userInfo` of an iOS app that received the push through FCM.
    case apnsThroughFCM = "apns-fcm"
    /// The request body of `projects.messages.send`.
    case fcmV1 = "fcm-v1"
    /// The request body of FCM's legacy HTTP API.
    case fcmLegacy = "fcm-legacy"
    /// The data map as `RemoteMessage.getData()` returns it.
    case fcmData = "fcm-data"
    /// The extras of an Android intent.
    case fcmExtras = "fcm-extras"
    /// A `RemoteMessage` as cross-platform frameworks dump it: `data`, `notification`, `messageId`.
    case fcmWrapper = "fcm-wrapper"
    /// A request to Amazon Device Messaging.
    case adm
    /// A declarative web push, which a browser shows without a service worker.
    case webPush = "web-push"
    /// In-app messages with the events that trigger them, as a vendor's backend sends them to its SDK.
    case inApp = "in-app"
    /// Any other object: bodies of web pushes for service workers, in-app content.
    case other
}

/// A payload whose push service and envelope are known, with the locations of the vendors' keys.
///
/// Its values are views into ``parser``'s buffers, so a payload is valid only until that parser is reset. Not
/// copyable, so that no copy outlives the function that opened it.
package struct PlatformPayload: ~Copyable {
    /// `unknown` for ADM, web push, in-app messages, messages to Expo's service and objects without a push service.
    package internal(set) var platform: Platform
    /// The form in which the payload came.
    package let envelope: Envelope
    /// The whole payload, always an object.
    package let root: JSONValue
    /// `aps` of the APNs side, always an object when present.
    let aps: JSONValue?
    /// The vendor's keys, without the platform's own keys.
    let fields: VendorFields
    /// FCM's display blocks, the most specific first: `android.notification`, `notification`.
    let notifications: [JSONValue]
    /// The addressees that the request names.
    package let target: Addressing
    /// Mistakes of the envelope itself.
    let warnings: [Warning]
    /// The owner of the buffers; parses JSON texts in strings and finds JSON Pointers.
    let parser: JSONParser

    /// A vendor's key; see ``VendorFields``.
    subscript(_ key: StaticString) -> JSONValue? {
        @inline(__always) get { fields[key] }
    }

    /// The JSON Pointer of a value of this payload.
    func pointer(to value: JSONValue) -> String { parser.pointer(to: value) }

    /// The message of a request to FCM's HTTP v1 API: the object `message`, or the payload itself.
    var message: JSONValue { root["message"].flatMap { $0.isObject ? $0 : nil } ?? root }

    /// True for a request to FCM, or a message as received, whose keys of the vendor are all for Apple's devices.
    var isForAppleThroughFCM: Bool {
        switch envelope {
        case .fcmV1: !fields.layers.isEmpty && fields.layers.allSatisfy { $0.reserved == .apns }
        case .fcmWrapper: root.isFromAppleDevice
        default: false
        }
    }

    /// Device tokens, topic and condition of an FCM request, in clear text.
    package struct Addressing {
        /// The key of most tokens.
        package static let key: StaticString = "token"

        /// The device token of a request to one device; secret.
        package var token: JSONValue?
        /// Further device tokens, and lists of them, which may contain ``token``; secret. Each has the key under which
        /// the event may contain it. Empty for most requests.
        var otherTokens: [(key: StaticString, value: JSONValue)] = []
        /// The topic of a request, with the prefix `/topics/` in the legacy API.
        var topic: JSONValue?
        /// The condition over topics, as the request spells it.
        var condition: JSONValue?
        /// The parsed condition; nil if there is none or if Google would reject it.
        var topics: TopicCondition?

        /// Adds a device token or a list of them; a null counts as absent. `key`: needed only for a value that readers
        /// do not consume.
        mutating func add(_ tokens: JSONValue?, under key: StaticString = Self.key) {
            if let tokens, !tokens.isNull { otherTokens.append((key, tokens)) }
        }

        /// The same for a receiver of the legacy API, which may be a topic.
        mutating func addReceiver(_ receiver: JSONValue?) {
            if receiver?.utf8?.hasPrefix("/topics/") != true { add(receiver, under: "to") }
        }

        /// Calls `body` with every device token of the request, as UTF-8, and the key of its value. Of each list, the
        /// first ``longestList``: no push service accepts more.
        package func forEachToken(_ body: (_ key: StaticString, _ text: UnsafeBufferPointer<UInt8>) -> Void) {
            token?.forEachText { body(Self.key, $0) }
            for (key, tokens) in otherTokens { tokens.forEachText { body(key, $0) } }
        }
    }
}

extension JSONValue {
    /// Calls `body` with a string that is not empty, or with those of a list, up to ``longestList`` elements.
    fileprivate func forEachText(_ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        if let utf8, !utf8.isEmpty { body(utf8) }
        for element in elements.prefix(longestList) {
            if let text = element.utf8, !text.isEmpty { body(text) }
        }
    }
}

/// The objects that contain a vendor's keys, searched from the most specific to the most general: `android.data`
/// before `data` before the keys next to `aps`.
struct VendorFields {
    /// The platform whose own keys are mixed with the vendor's keys in one object.
    enum Reserved: Sendable {
        /// `none`: every key is a vendor's or the app's. `fcmBundle`: FCM's, and its display block `notification`.
        case none, apns, fcm, fcmBundle, webPush
    }

    /// One object, and the platform that owns some of its keys.
    struct Layer {
        /// The object, prepared for lookups.
        let contents: JSONObject
        /// The platform whose keys are not a vendor's.
        let reserved: Reserved

        var object: JSONValue { contents.value }
    }

    /// From the most specific to the most general.
    let layers: [Layer]
    private let keys: JSONKeyFilter
    /// Whether a layer may have keys that the filter lacks: it is not an object, but a text or a list.
    private let isOpen: Bool

    /// `layers`: the most specific first. Unites the key filters of all layers, so that most lookups read no layer.
    init(layers: [Layer]) {
        self.layers = layers
        isOpen = layers.contains { !$0.object.isObject }
        keys = layers.reduce(into: JSONKeyFilter()) { $0.formUnion($1.contents.keys) }
    }

    /// The value of a key in the first layer that has it and in which it is not null.
    subscript(_ key: StaticString) -> JSONValue? {
        @inline(__always) get { keys.mayContain(JSONKey(key)) ? find(JSONKey(key)) : nil }
    }

    /// False only if no layer has one of the keys, even inside a text that contains JSON.
    @inline(__always)
    func mayContain(anyOf other: JSONKeyFilter) -> Bool { isOpen || keys.mayIntersect(other) }

    /// False only if no layer has some of the keys, even inside a text that contains JSON.
    @inline(__always)
    func mayContain(all other: JSONKeyFilter) -> Bool { isOpen || keys.mayContain(all: other) }

    /// The slow path of a lookup: asks each layer in turn.
    private func find(_ key: JSONKey) -> JSONValue? {
        for layer in layers {
            if let value = layer.contents.member(key) { return value }
        }
        return nil
    }

    /// The object in which ``subscript(_:)`` finds a key.
    func object(with key: StaticString) -> JSONValue? { layers.first { $0.contents[key] != nil }?.object }

    /// Calls `body` for every key that the platform does not own. A key of a more specific layer overrides its
    /// namesakes.
    func forEach(_ body: (_ key: UnsafeBufferPointer<UInt8>, _ value: JSONValue) -> Void) {
        var seen = JSONKeySet()
        for layer in layers {
            layer.contents.forEachMember { key, value in
                guard !layer.reserved.contains(key), layers.count == 1 || seen.insert(key) else { return }
                body(key, value)
            }
        }
    }

    /// Calls `body` for the overridden keys that ``forEach(_:)`` skips, unless their value equals the one it passes.
    /// Takes time linear in the size of all layers.
    func forEachOverridden(_ body: (_ key: UnsafeBufferPointer<UInt8>, _ value: JSONValue) -> Void) {
        guard layers.count > 1 else { return }
        var shown: [JSONKeyBytes: JSONValue] = [:]
        for layer in layers {
            layer.contents.forEachMember { key, value in
                guard !layer.reserved.contains(key) else { return }
                let name = JSONKeyBytes(bytes: key)
                if let first = shown[name] {
                    if JSONText(first) != JSONText(value) { body(key, value) }
                } else {
                    shown[name] = value
                }
            }
        }
    }
}

extension VendorFields.Reserved {
    /// True for a key that the platform owns in such an object: `aps`; `google.*`, `gcm.*`, `from`, `collapse_key` and
    /// `message_type` (firebase-android-sdk, Constants.java, `extractDeveloperDefinedPayload`); those of a declarative
    /// push message.
    func contains(_ key: UnsafeBufferPointer<UInt8>) -> Bool {
        switch self {
        case .none: false
        case .apns: key.equals("aps") || key.equals("fcm_options") || Self.isFirebase(key)
        case .fcm:
            Self.isFirebase(key) || key.equals("from") || key.equals("collapse_key") || key.equals("message_type")
        case .fcmBundle: key.equals("notification") || Self.fcm.contains(key)
        case .webPush:
            key.equals("web_push") || key.equals("notification") || key.equals("app_badge") || key.equals("mutable")
        }
    }

    /// True for a key with a prefix that Firebase's SDKs reserve.
    private static func isFirebase(_ key: UnsafeBufferPointer<UInt8>) -> Bool {
        key.hasPrefix("google.") || key.hasPrefix("gcm.")
    }
}
