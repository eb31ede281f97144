import SignalboxJSON

/// Apple Push Notification service: requests and received payloads have the same form.
extension Arrival {
    /// The body of `/3/device/{token}`, or an iOS app's `userInfo`: an object `aps` with the vendor's keys next to it
    /// (developer.apple.com, "Generating a remote notification"). An `aps` of another type does not count.
    var isAPNs: Bool { root.block("aps") != nil }

    /// `userInfo` of an iOS app whose pushes come through FCM: the keys of FCM's `data` are flattened next to `aps`,
    /// and FCM's own keys are among them (firebase-ios-sdk, FirebaseMessaging).
    var isAPNsThroughFCM: Bool {
        isAPNs
            && root.value.members.contains { key, _ in
                key.hasPrefix("gcm.") || key.hasPrefix("google.") || key.equals("fcm_options")
            }
    }

    /// Opens a payload for APNs. The vendor's keys are next to `aps`. `envelope`: ``Envelope/apns`` or the one
    /// through FCM.
    func apns(_ envelope: Envelope) -> PlatformPayload {
        var checks = WellFormedness(of: self)
        checks.checkSizeForAPNs(self)
        let aps = root.block("aps")
        if let aps { checks.checkAPS(aps) } else { checks.warnOfWrongAPS(in: self) }
        return payload(.apns, envelope, aps: aps, layers: layer(.apns), warnings: checks.warnings)
    }
}

// MARK: Other services

/// Forms that neither APNs nor FCM accepts.
extension Arrival {
    /// A request to Amazon Device Messaging: `data` or `notification` with one of this service's own options
    /// (developer.amazon.com, "Send a message"). None of these options exists in FCM.
    var isADM: Bool {
        hasMessageBlock && (root["consolidationKey"] != nil || root["expiresAfter"] != nil || root["md5"] != nil)
    }

    /// Opens a request to ADM. The vendor's keys are in `data`, without keys of the platform among them. The platform
    /// is unknown in events, because events know only APNs and FCM as platforms.
    func adm() -> PlatformPayload {
        payload(
            .unknown, .adm, layers: .of(root["data"], .none), notifications: notification,
            warnings: WellFormedness(of: self).warnings)
    }

    /// In-app messages as Braze's backend sends them to its SDKs: a list of triggers, one trigger, or a message alone.
    /// No push contains them (braze-roku-sdk, BrazeSDK.brs; response of `/api/v3/data`).
    var isInApp: Bool {
        if let triggers = root["triggers"] {
            var elements = triggers.elements
            return Self.isTrigger(elements.next())
        }
        if root["trigger_condition"] != nil { return Self.isTrigger(root.value) }
        return root["message_close"]?.isString == true && Self.isClick(root["click_action"])
            && root["type"]?.isString == true && root["aps"] == nil
    }

    /// True for an object with the conditions and the message of a trigger.
    private static func isTrigger(_ value: JSONValue?) -> Bool {
        value?["trigger_condition"]?.isArray == true && value?.block("data") != nil
    }

    /// The click action of a message is one of three words (braze-roku-sdk, BrazeSDK.brs).
    private static func isClick(_ value: JSONValue?) -> Bool {
        value?.equals("URI") == true || value?.equals("NONE") == true || value?.equals("NEWS_FEED") == true
    }

    /// Opens in-app messages. The payload itself contains the vendor's keys.
    func inApp() -> PlatformPayload {
        payload(.unknown, .inApp, layers: layer(.none), warnings: WellFormedness(of: self).warnings)
    }

    /// Any other object: the body of a web push, in-app content. Detectors examine the object itself.
    func other() -> PlatformPayload {
        var checks = WellFormedness(of: self)
        checks.warnOfWrongAPS(in: self)
        return payload(.unknown, .other, layers: layer(.none), target: expoRecipients, warnings: checks.warnings)
    }
}
