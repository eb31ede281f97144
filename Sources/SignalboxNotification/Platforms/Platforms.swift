package import SignalboxJSON

/// Recognises and opens the envelope of a payload.
package enum Platforms {
    /// Determines the push service of a payload and the locations of the vendors' keys. Mistakes become warnings.
    /// `size`: the size of the payload's text, in bytes. `form`: of the request that brought the payload, if it is
    /// known; its keys alone need not show it. Throws only for a value that is not an object. Reads in place: the
    /// result is valid as long as `parser` is not reset. `parser`: owns `root`.
    package static func recognise(
        _ root: JSONValue, size: Int, form: RequestForm? = nil, parser: JSONParser
    ) throws(PlatformError) -> PlatformPayload {
        guard root.isObject else { throw .notAnObject }
        let arrival = Arrival(root: JSONObject(root), size: size, parser: parser)
        switch form {
        case .apns: return arrival.apns(arrival.isAPNsThroughFCM ? .apnsThroughFCM : .apns)
        case .fcmV1: return arrival.fcmV1()
        case .fcmLegacy: return arrival.fcmLegacy()
        case .expo:
            var payload = open(arrival)
            payload.platform = .unknown
            return payload
        case nil: return open(arrival)
        }
    }

    /// Opens a payload in the first envelope that recognises it. Envelopes with keys of their own precede those that
    /// are recognised by their structure alone. The conditions must not allocate: every payload passes them.
    ///
    /// Not a list of functions: all threads would count references to the same functions for every payload.
    private static func open(_ arrival: Arrival) -> PlatformPayload {
        if arrival.isAPNsThroughFCM { return arrival.apns(.apnsThroughFCM) }
        if arrival.isAPNs { return arrival.apns(.apns) }
        if arrival.isDeclarativePush { return arrival.declarativePush() }
        if arrival.isInApp { return arrival.inApp() }
        if arrival.isFCMBundle { return arrival.fcmBundle() }
        if arrival.fcmMessage != nil { return arrival.fcmV1() }
        if arrival.isADM { return arrival.adm() }
        if arrival.isFCMLegacy { return arrival.fcmLegacy() }
        if arrival.isFCMDirectMessage { return arrival.fcmBundle() }
        if arrival.isFCMWrapper { return arrival.fcmWrapper() }
        if arrival.isFCMExtras { return arrival.flatFCM(.fcmExtras) }
        if arrival.isDeviceManagement || arrival.isFileProviderSignal { return arrival.apns(.apns) }
        if arrival.isFCMData { return arrival.flatFCM(.fcmData) }
        return arrival.other()
    }
}

/// The API of a push service that a payload was sent to.
package enum RequestForm: Sendable {
    /// A push to a device or a channel.
    case apns
    /// A message of HTTP v1.
    case fcmV1
    /// A message of the legacy HTTP protocol.
    case fcmLegacy
    /// A message to Expo's service, which passes it to APNs or FCM: it is of no platform.
    case expo
}

/// Why a JSON text is not a payload.
package enum PlatformError: Error, Equatable, Sendable {
    /// The text is a list, a string, a number, a boolean or null.
    case notAnObject
}

/// A payload before its envelope is known. Borrowed like ``JSONValue``. Its members are computed at each call, so
/// each recogniser asks only for the keys that it needs.
struct Arrival {
    /// The whole payload, always an object.
    let root: JSONObject
    /// Length of the text, in bytes.
    let size: Int
    /// The owner of the payload's buffers.
    let parser: JSONParser

    /// The payload itself as the object that contains the vendors' keys.
    func layer(_ reserved: VendorFields.Reserved) -> [VendorFields.Layer] {
        [.init(contents: root, reserved: reserved)]
    }

    /// The display block of the request, in a list; empty if there is none.
    var notification: [JSONValue] { root.block("notification").map { [$0] } ?? [] }

    /// True with an object `data` or `notification`, the two blocks of every FCM message.
    var hasMessageBlock: Bool { root.block("data") != nil || root.block("notification") != nil }

    /// Composes the payload. `layers`: the objects with the vendors' keys, the most specific first. `aps`: Apple's
    /// own block, if the envelope has one. `notifications`: display blocks, the most specific first.
    func payload(
        _ platform: Platform, _ envelope: Envelope, aps: JSONValue? = nil, layers: [VendorFields.Layer],
        notifications: [JSONValue] = [], target: PlatformPayload.Addressing = .init(), warnings: [Warning]
    ) -> PlatformPayload {
        PlatformPayload(
            platform: platform, envelope: envelope, root: root.value, aps: aps, fields: VendorFields(layers: layers),
            notifications: notifications, target: target, warnings: warnings, parser: parser)
    }
}

extension [VendorFields.Layer] {
    /// The layer of an object; empty for any other value.
    static func of(_ object: JSONValue?, _ reserved: VendorFields.Reserved) -> Self {
        guard let object, object.isObject else { return [] }
        return [Element(contents: JSONObject(object), reserved: reserved)]
    }
}

extension JSONObject {
    /// The value of a key if it is an object.
    @inline(__always)
    func block(_ key: StaticString) -> JSONValue? {
        guard let block = self[key], block.isObject else { return nil }
        return block
    }
}

extension JSONValue {
    /// The value of a key if it is an object.
    func block(_ key: StaticString) -> JSONValue? {
        guard let block = self[key], block.isObject else { return nil }
        return block
    }
}
