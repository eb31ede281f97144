// Public, because what other targets inline may name nothing that is imported less openly.
public import SignalboxJSON

/// A payload whose push service and envelope are known, with the places where vendors put their keys.
///
/// Everything in it is a view into ``parser``'s buffers, so it lives no longer than the closure that it is handed to.
@usableFromInline
package struct PlatformPayload: ~Copyable {
    package let platform: Platform
    package let envelope: Envelope
    /// The whole payload, always an object.
    package let root: JSONValue
    /// `aps` of the APNs side, always an object when present.
    package let aps: JSONValue?
    /// Where vendors put their keys, the platform's own keys left out.
    @usableFromInline package let fields: VendorFields
    /// FCM's display blocks, the most specific first: `android.notification`, `notification`.
    package let notifications: [JSONValue]
    /// Who the payload is for, as the request says it.
    package let target: Addressing
    /// What the envelope itself gets wrong.
    package let warnings: [Warning]
    /// Size of the payload as it came, in bytes.
    package let size: Int
    /// The owner of all views here; parses JSON texts in strings and names places.
    package let parser: JSONParser

    package init(
        platform: Platform, envelope: Envelope, root: JSONValue, aps: JSONValue?, fields: VendorFields,
        notifications: [JSONValue], target: Addressing, warnings: [Warning], size: Int, parser: JSONParser
    ) {
        self.platform = platform
        self.envelope = envelope
        self.root = root
        self.aps = aps
        self.fields = fields
        self.notifications = notifications
        self.target = target
        self.warnings = warnings
        self.size = size
        self.parser = parser
    }

    /// A vendor's key, wherever the envelope puts those; see ``VendorFields``.
    @inlinable
    package subscript(_ key: StaticString) -> JSONValue? {
        @inline(__always) get { fields[key] }
    }

    /// The JSON Pointer of a value of this payload.
    package func pointer(to value: JSONValue) -> String { parser.pointer(to: value) }

    /// Device token, topic and condition of an FCM request, in clear.
    package struct Addressing {
        package var token: JSONValue?
        package var topic: JSONValue?
        package var condition: JSONValue?
        /// What the condition says; nil when there is none or when Google would refuse it.
        package var topics: TopicCondition?

        package init() {}
    }
}

/// The objects in which a vendor's keys stand, searched from the most specific to the most general:
/// `android.data` over `data` over the keys beside `aps`.
@usableFromInline
package struct VendorFields {
    /// Keys that belong to the platform where they stand in a vendor's object.
    package enum Reserved: Sendable {
        case none, apns, fcm
    }

    /// One object and which of its keys are the platform's.
    package struct Layer {
        package let contents: JSONObject
        package let reserved: Reserved

        package init(_ contents: JSONObject, reserved: Reserved) {
            self.contents = contents
            self.reserved = reserved
        }

        package var object: JSONValue { contents.value }
    }

    package let layers: [Layer]
    @usableFromInline let keys: JSONKeyFilter

    package init(layers: [Layer]) {
        self.layers = layers
        keys = layers.reduce(into: JSONKeyFilter()) { $0.formUnion($1.contents.keys) }
    }

    /// The value of a key in the first layer that has it.
    @inlinable
    package subscript(_ key: StaticString) -> JSONValue? {
        @inline(__always) get { keys.mayContain(JSONKey(key)) ? find(JSONKey(key)) : nil }
    }

    @usableFromInline
    func find(_ key: JSONKey) -> JSONValue? {
        for layer in layers {
            if let value = layer.contents.member(key) { return value }
        }
        return nil
    }

    /// Hands every key that is not the platform's to `body`, a key of a more specific layer hiding its namesakes.
    package func forEach(_ body: (_ key: UnsafeBufferPointer<UInt8>, _ value: JSONValue) -> Void) {
        var seen = JSONKeySet()
        for layer in layers {
            layer.contents.forEachMember { key, value in
                guard !layer.reserved.contains(key), layers.count == 1 || seen.insert(key) else { return }
                body(key, value)
            }
        }
    }

    /// Hands `body` the keys that ``forEach(_:)`` leaves out because they have a namesake with another value.
    package func forEachHidden(_ body: (_ key: UnsafeBufferPointer<UInt8>, _ value: JSONValue) -> Void) {
        guard layers.count > 1 else { return }
        var seen: Set<[UInt8]> = []
        for layer in layers {
            layer.contents.forEachMember { key, value in
                guard !layer.reserved.contains(key), !seen.insert(Array(key)).inserted else { return }
                let shown = layers.lazy.compactMap { $0.reserved.contains(key) ? nil : $0.object.member(key) }.first
                if let shown, JSONText(shown) != JSONText(value) { body(key, value) }
            }
        }
    }
}

extension VendorFields.Reserved {
    /// True for a key that the platform owns in such an object: `aps`; `google.*`, `gcm.*`, `from`, `collapse_key` and
    /// `message_type` (firebase-android-sdk, Constants.java, `extractDeveloperDefinedPayload`).
    package func contains(_ key: UnsafeBufferPointer<UInt8>) -> Bool {
        switch self {
        case .none: false
        case .apns: key.equals("aps") || key.equals("fcm_options") || Self.isFirebase(key)
        case .fcm:
            Self.isFirebase(key) || key.equals("from") || key.equals("collapse_key") || key.equals("message_type")
        }
    }

    private static func isFirebase(_ key: UnsafeBufferPointer<UInt8>) -> Bool {
        key.hasPrefix("google.") || key.hasPrefix("gcm.")
    }
}
