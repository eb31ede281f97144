package import SignalboxJSON

/// A payload whose push service and envelope are known, with the places where vendors put their keys.
///
/// Everything in it is a view into ``parser``'s buffers, so it lives no longer than the closure that it is handed to.
package struct PlatformPayload: ~Copyable {
    package let platform: Platform
    package let envelope: Envelope
    /// The whole payload, always an object.
    package let root: JSONValue
    /// `aps` of the APNs side, always an object when present.
    package let aps: JSONValue?
    /// Where vendors put their keys, the platform's own keys left out.
    package let fields: VendorFields
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
    package subscript(_ key: StaticString) -> JSONValue? { fields[key] }

    /// The JSON Pointer of a value of this payload.
    package func pointer(to value: JSONValue) -> String { parser.pointer(to: value) }

    /// Device token, topic and condition of an FCM request, in clear.
    package struct Addressing {
        package var token: JSONValue?
        package var topic: JSONValue?
        package var condition: JSONValue?

        package init() {}
    }
}

/// The objects in which a vendor's keys stand, searched from the most specific to the most general:
/// `android.data` over `data` over the keys beside `aps`.
package struct VendorFields {
    /// Keys that belong to the platform where they stand in a vendor's object.
    package enum Reserved: Sendable {
        case none, apns, fcm
    }

    /// One object and which of its keys are the platform's.
    package struct Layer {
        package let object: JSONValue
        package let reserved: Reserved
        private let keys: JSONKeyFilter

        package init(object: JSONValue, reserved: Reserved, keys: JSONKeyFilter? = nil) {
            self.object = object
            self.reserved = reserved
            self.keys = keys ?? JSONKeyFilter(of: object)
        }

        /// The value of a key, the platform's keys included.
        package subscript(_ key: StaticString) -> JSONValue? { keys.mayContain(key) ? object[key] : nil }
    }

    package let layers: [Layer]

    package init(layers: [Layer]) { self.layers = layers }

    /// The value of a key in the first layer that has it.
    package subscript(_ key: StaticString) -> JSONValue? {
        for layer in layers {
            if let value = layer[key] { return value }
        }
        return nil
    }

    /// Hands every key that is not the platform's to `body`, a key of a more specific layer hiding its namesakes.
    package func forEach(_ body: (_ key: UnsafeBufferPointer<UInt8>, _ value: JSONValue) -> Void) {
        var seen = JSONKeySet()
        for layer in layers {
            layer.object.forEachMember { key, value in
                guard !layer.reserved.contains(key), layers.count == 1 || seen.insert(key) else { return }
                body(key, value)
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
