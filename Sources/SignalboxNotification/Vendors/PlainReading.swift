import SignalboxJSON

/// Reads the push service's own keys, independently of the vendor.
enum PlainReading {
    /// Reads a payload as an app without a vendor's SDK receives it. Does not read the request's device token: only
    /// the gateway, which hashes it, may.
    static func read(_ payload: borrowing PlatformPayload, into notification: inout PushNotification) {
        let parser = payload.parser
        notification.platform = payload.platform
        notification.isForAppleThroughFCM = payload.isForAppleThroughFCM
        notification.warnings = payload.warnings
        notification.target = target(payload.target)
        switch payload.envelope {
        case .apns: notification.readAPS(payload.aps, in: parser)
        case .apnsThroughFCM:
            notification.readAPS(payload.aps, in: parser)
            notification.addMedia(payload.root["fcm_options"]?["image"], as: .attachment, kind: .image)
        case .fcmV1: notification.readMessage(payload)
        case .webPush: notification.readWebPush(payload)
        case .fcmLegacy, .fcmData, .fcmExtras, .fcmWrapper, .adm, .other, .inApp:
            notification.readBlocks(payload.notifications, in: parser)
        }
        let block = DeviceBlock(of: payload)
        block?.fill(&notification, in: parser)
        guard let leftover = leftover(of: payload, block) else { return }
        var json = JSONWriter()
        leftover.write(in: parser, into: &json)
        notification.platformRest = JSONText(json)
        let component = payload.envelope == .apns || payload.envelope == .apnsThroughFCM ? "apns" : "fcm"
        leftover.schema.forEachWrongType(in: leftover.object, parser) { value, expected in
            notification.warn(component + ".wrong-type", "Expected \(expected.expectation).", at: value, in: parser)
        }
    }

    /// Topic, without the prefix `/topics/` of the legacy API, and condition.
    private static func target(_ addressing: PlatformPayload.Addressing) -> PushNotification.Target? {
        let topic = addressing.topic?.text.map { $0.hasPrefix("/topics/") ? String($0.dropFirst(8)) : $0 }
        let condition = addressing.condition?.text
        return topic == nil && condition == nil ? nil : .init(topic: topic, condition: condition)
    }
}

// MARK: The rest of the push service's keys

extension PushNotification {
    /// Keeps the texts of the push service's keys that the vendor's texts replace: they become a part of
    /// ``platformRest``. For readers with code; a reading by paths has ``ConsumedValues``. `other`: a further value of
    /// these keys that is replaced.
    mutating func keepReplaced(_ other: JSONValue?, of payload: borrowing PlatformPayload) {
        guard other != nil || replacesTexts(of: payload) else { return }
        var replaced = ConsumedValues()
        if let other { replaced.keepReplaced(other) }
        payload.forEachPlainText { if !content.shows($0) { replaced.keepReplaced($0) } }
        let block = DeviceBlock(of: payload)
        guard let leftover = PlainReading.leftover(of: payload, block, without: replaced) else { return }
        var json = JSONWriter()
        leftover.write(in: payload.parser, without: replaced, into: &json)
        platformRest = JSONText(json)
    }

    /// True if a text of the push service's keys is no longer shown.
    private func replacesTexts(of payload: borrowing PlatformPayload) -> Bool {
        switch payload.envelope {
        // Envelopes without keys of a push service.
        case .fcmData, .inApp, .other: return false
        case .apns, .apnsThroughFCM, .fcmV1, .fcmLegacy, .fcmExtras, .fcmWrapper, .adm, .webPush: break
        }
        var isReplaced = false
        payload.forEachPlainText { if !content.shows($0) { isReplaced = true } }
        return isReplaced
    }
}

extension PlainReading {
    /// The object with the push service's keys, of which readers consumed a part.
    struct Leftover {
        /// The object with the push service's keys.
        let object: JSONValue
        /// The keys of the object that readers consume.
        let schema: KeySchema
        /// The request around a message, whose other keys the event keeps too; nil if there are none.
        let request: JSONValue?
        /// Values that a reading by paths consumed, and those of a device's display block; nil without a display
        /// block.
        var block: ConsumedValues?

        /// Writes the rest as an object. `consumed`: values that a reading by paths consumed.
        func write(in parser: JSONParser, without consumed: ConsumedValues? = nil, into json: inout JSONWriter) {
            json.beginObject()
            schema.writeRest(of: object, in: parser, without: block ?? consumed, into: &json)
            request?.forEachMember { key, value in
                guard !key.equals("message") else { return }
                json.key(utf8: key)
                json.value(value)
            }
            json.endObject()
        }
    }

    /// The unread part of the push service's keys; nil if readers consumed all of them. `consumed`: values that a
    /// reading by paths consumed. `block`: the payload's own.
    static func leftover(
        of payload: borrowing PlatformPayload, _ block: DeviceBlock?, without consumed: ConsumedValues? = nil
    ) -> Leftover? {
        guard let (object, schema) = ownKeys(of: payload) else { return nil }
        let parser = payload.parser
        let block = block.map { (consumed ?? ConsumedValues()).sorted(with: $0.consumed(in: parser)) }
        let isRequest = payload.envelope == .fcmV1 && !object.isSamePlace(as: payload.root)
        let isAlone = !isRequest || !payload.root.members.contains { key, _ in !key.equals("message") }
        let isCovered = consumed?.hasReplacedTexts != true && schema.covers(object, in: payload.parser)
        guard !isAlone || !isCovered else { return nil }
        if let consumed = block ?? consumed, isAlone {
            let whole = KeySchema.Value.object(schema)
            guard whole.leavesRest(of: object, in: payload.parser, without: consumed) else { return nil }
        }
        return Leftover(object: object, schema: schema, request: isAlone ? nil : payload.root, block: block)
    }

    /// The member of `custom` that contains the rest. No vendor uses `aps` as a key of its own, so the name is free.
    static func leftoverName(in payload: borrowing PlatformPayload) -> StaticString {
        switch payload.envelope {
        case .apns: "aps"
        case .adm: "adm"
        case .webPush: "web_push"
        // Also taken by a null, which ``VendorFields`` does not find.
        default: payload.fields.layers.contains { $0.object["fcm"] != nil } ? "gcm.request" : "fcm"
        }
    }

    /// The object that contains the push service's keys, and the keys of it that readers consume.
    private static func ownKeys(of payload: borrowing PlatformPayload) -> (JSONValue, KeySchema)? {
        let isLive = payload.aps.map { isLiveActivity($0) } ?? false
        return switch payload.envelope {
        case .apns: payload.aps.map { ($0, isLive ? liveActivity : aps) }
        case .apnsThroughFCM: (payload.root, isLive ? userInfoLive : userInfo)
        case .fcmV1: (payload.message, message(payload, isLive: isLive))
        case .fcmLegacy, .fcmWrapper: (payload.root, legacy)
        case .fcmExtras: (payload.root, payload.notifications.isEmpty ? extras : bundle)
        case .adm: (payload.root, adm)
        case .webPush: (payload.root, webPush)
        case .fcmData, .inApp, .other: nil
        }
    }
}
