import SignalboxJSON
import SignalboxNotification

/// The APNs payload of a notification as an app should show it: with the category of its buttons, and with
/// `mutable-content` if a service extension has work to do. Routes with `include` add it to the events of their
/// destinations.
struct ShownPayload {
    private let userInfo: JSONValue
    private let category: String?
    private let needsExtension: Bool

    /// Nil for a payload that no iOS app receives. A payload of FCM's HTTP v1 API contains the APNs payload.
    init?(_ payload: borrowing PlatformPayload, of notification: PushNotification) {
        let root = payload.root
        let candidates = [root, (root["message"] ?? root)["apns"]?["payload"]]
        guard let userInfo = candidates.compactMap({ $0 }).first(where: { $0["aps"]?.isObject == true }),
            let aps = userInfo["aps"]
        else { return nil }
        self.userInfo = userInfo
        category = notification.category?.identifier
        let isShown = aps["alert"].map { !$0.isNull } ?? false
        let isDynamic = notification.category?.origin == .dynamic
        needsExtension = isShown && (isDynamic || !notification.media.isEmpty)
    }

    /// The text of the object that iOS calls `userInfo`. Members keep their order. `category` and `mutable-content`
    /// move to the end of `aps`.
    var text: JSONText {
        var json = JSONWriter()
        json.beginObject()
        userInfo.forEachMember { key, value in
            json.key(utf8: key)
            if key.equals("aps") { write(aps: value, into: &json) } else { json.value(value) }
        }
        json.endObject()
        return JSONText(json)
    }

    /// Replaces only the two members that the gateway sets.
    private func write(aps: JSONValue, into json: inout JSONWriter) {
        json.beginObject()
        aps.forEachMember { key, value in
            if category != nil, key.equals("category") { return }
            if needsExtension, key.equals("mutable-content") { return }
            json.key(utf8: key)
            json.value(value)
        }
        if let category { json.member("category", category) }
        if needsExtension { json.member("mutable-content", 1) }
        json.endObject()
    }
}

extension JSONText {
    /// An event with this payload as the last member of its data. Stops the process if the event does not end with
    /// its data, which would be a defect of the gateway.
    func asMember(ofEvent event: [UInt8]) -> [UInt8] {
        // The gateway wrote the event: `data` is its last member and is not empty.
        precondition(event.suffix(2) == Array("}}".utf8), "An event does not end with its data.")
        var bytes: [UInt8] = []
        bytes.reserveCapacity(event.count + self.bytes.count + 10)
        bytes += event.dropLast(2)
        bytes += Array(#","apns":"#.utf8)
        bytes += self.bytes
        bytes += Array("}}".utf8)
        return bytes
    }
}
