import SignalboxJSON

/// The body of `/3/device/{token}`, or an iOS app's `userInfo`: an object `aps` with the vendor's keys next to it
/// (developer.apple.com, "Generating a remote notification").
struct APNs: EnvelopeFormat {
    let envelope = Envelope.apns

    func recognises(_ arrival: Arrival) -> Bool { arrival.root.block("aps") != nil }

    func payload(of arrival: Arrival) -> PlatformPayload { arrival.payloadForAPNs(envelope) }
}

/// `userInfo` of an iOS app whose pushes come through FCM: the keys of FCM's `data` are flattened next to `aps`, and
/// FCM's own keys are among them (firebase-ios-sdk, FirebaseMessaging).
struct APNsThroughFCM: EnvelopeFormat {
    let envelope = Envelope.apnsThroughFCM

    func recognises(_ arrival: Arrival) -> Bool {
        arrival.root.block("aps") != nil
            && arrival.root.value.members.contains { key, _ in
                key.hasPrefix("gcm.") || key.hasPrefix("google.") || key.equals("fcm_options")
            }
    }

    func payload(of arrival: Arrival) -> PlatformPayload { arrival.payloadForAPNs(envelope) }
}

extension Arrival {
    fileprivate func payloadForAPNs(_ envelope: Envelope) -> PlatformPayload {
        var checks = WellFormedness(of: self)
        checks.checkSizeForAPNs(self)
        let aps = root.block("aps")
        if let aps { checks.checkAPS(aps) }
        return payload(.apns, envelope, aps: aps, layers: layer(.apns), warnings: checks.warnings)
    }
}

// MARK: Other services

/// A request to Amazon Device Messaging: `data` or `notification` with one of this service's own options
/// (developer.amazon.com, "Send a message").
struct ADM: EnvelopeFormat {
    let envelope = Envelope.adm

    func recognises(_ arrival: Arrival) -> Bool {
        let root = arrival.root
        return arrival.hasMessageBlock
            && (root["consolidationKey"] != nil || root["expiresAfter"] != nil || root["md5"] != nil)
    }

    func payload(of arrival: Arrival) -> PlatformPayload {
        arrival.payload(
            .unknown, envelope, layers: .of(arrival.root["data"], .none), notifications: arrival.notification,
            warnings: WellFormedness(of: arrival).warnings)
    }
}

/// In-app messages as Braze's backend sends them to its SDKs: a list of triggers, one trigger, or a message alone. No
/// push contains them (braze-roku-sdk, BrazeSDK.brs; response of `/api/v3/data`).
struct InApp: EnvelopeFormat {
    let envelope = Envelope.inApp

    func recognises(_ arrival: Arrival) -> Bool {
        let root = arrival.root
        if let triggers = root["triggers"] {
            var elements = triggers.elements
            return Self.isTrigger(elements.next())
        }
        if root["trigger_condition"] != nil { return Self.isTrigger(root.value) }
        return root["message_close"]?.isString == true && Self.isClick(root["click_action"])
            && root["type"]?.isString == true && root["aps"] == nil
    }

    private static func isTrigger(_ value: JSONValue?) -> Bool {
        value?["trigger_condition"]?.isArray == true && value?.block("data") != nil
    }

    /// The click action of a message is one of three words (braze-roku-sdk, BrazeSDK.brs).
    private static func isClick(_ value: JSONValue?) -> Bool {
        value?.equals("URI") == true || value?.equals("NONE") == true || value?.equals("NEWS_FEED") == true
    }

    func payload(of arrival: Arrival) -> PlatformPayload {
        arrival.payload(
            .unknown, envelope, layers: arrival.layer(.none), warnings: WellFormedness(of: arrival).warnings)
    }
}

/// Any other object: the body of a web push, in-app content.
struct Other: EnvelopeFormat {
    let envelope = Envelope.other

    func recognises(_ arrival: Arrival) -> Bool { true }

    func payload(of arrival: Arrival) -> PlatformPayload {
        var checks = WellFormedness(of: arrival)
        if let aps = arrival.root["aps"] {
            checks.warn("apns.aps-not-an-object", "`aps` is an object in every APNs payload.", at: aps)
        }
        return arrival.payload(.unknown, envelope, layers: arrival.layer(.none), warnings: checks.warnings)
    }
}
