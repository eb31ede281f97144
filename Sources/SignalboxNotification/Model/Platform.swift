/// The push service that a payload is written for.
package enum Platform: String, Sendable, CaseIterable {
    case apns, fcm, unknown
}

/// The shape in which a payload reached the gateway: one push can be logged, sent or received in several.
package enum Envelope: String, Sendable, CaseIterable {
    /// An APNs payload: the body of `/3/device/{token}`, or `userInfo`.
    case apns
    /// `userInfo` of an iOS app that got the push through FCM.
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
    /// In-app messages with the events that trigger them, as a vendor's backend hands them to its SDK.
    case inApp = "in-app"
    /// Anything else: web push bodies, in-app content.
    case other
}
