import SignalboxJSON

/// A payload as it arrived, before anybody knows what it is. Borrowed like ``JSONValue``.
struct Arrival {
    let root: JSONObject
    let size: Int
    let parser: JSONParser

    /// The payload itself as the object in which vendors put their keys.
    func layer(_ reserved: VendorFields.Reserved) -> [VendorFields.Layer] {
        [.init(root, reserved: reserved)]
    }

    func payload(
        _ platform: Platform, _ envelope: Envelope, aps: JSONValue? = nil, layers: [VendorFields.Layer],
        notifications: [JSONValue] = [], target: PlatformPayload.Addressing = .init(), warnings: [Warning]
    ) -> PlatformPayload {
        PlatformPayload(
            platform: platform, envelope: envelope, root: root.value, aps: aps, fields: VendorFields(layers: layers),
            notifications: notifications, target: target, warnings: warnings, size: size, parser: parser)
    }
}

extension [VendorFields.Layer] {
    /// The layer that an object makes, none for anything else.
    static func of(_ object: JSONValue?, _ reserved: VendorFields.Reserved) -> Self {
        guard let object, object.isObject else { return [] }
        return [Element(JSONObject(object), reserved: reserved)]
    }
}

extension JSONObject {
    /// The value of a key when that is an object.
    @inline(__always)
    func block(_ key: StaticString) -> JSONValue? {
        guard let block = self[key], block.isObject else { return nil }
        return block
    }
}

extension JSONValue {
    /// As above.
    func block(_ key: StaticString) -> JSONValue? {
        guard let block = self[key], block.isObject else { return nil }
        return block
    }
}
