import SignalboxJSON

/// What the push service's own keys say, whoever the vendor is.
enum PlainReading {
    /// Reads a payload as an app without any vendor's SDK would see it. The device token is left for later stages,
    /// which alone may hash it.
    static func read(_ payload: borrowing PlatformPayload, into notification: inout PushNotification) {
        notification.platform = payload.platform
        notification.warnings = payload.warnings
        notification.target = target(payload.target)
        switch payload.envelope {
        case .apns: notification.readAPS(payload.aps, in: payload.parser)
        case .apnsThroughFCM:
            notification.readAPS(payload.aps, in: payload.parser)
            _ = notification.add(payload.root["fcm_options"]?["image"], as: .attachment)
        case .fcmV1: notification.readMessage(payload)
        case .fcmLegacy, .fcmData, .fcmExtras, .fcmWrapper, .adm, .other, .inApp:
            notification.readBlocks(payload.notifications, in: payload.parser)
        }
        if let block = deviceBlock(in: payload) { notification.read(block, in: payload.parser) }
        keepLeftover(of: payload, &notification)
    }

    private static func target(_ addressing: PlatformPayload.Addressing) -> PushNotification.Target? {
        let topic = addressing.topic?.text.map { $0.hasPrefix("/topics/") ? String($0.dropFirst(8)) : $0 }
        let condition = addressing.condition?.text
        return topic == nil && condition == nil ? nil : .init(topic: topic, condition: condition)
    }
}
