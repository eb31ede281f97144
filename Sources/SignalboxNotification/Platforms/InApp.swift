import SignalboxJSON

/// In-app messages of a vendor's backend, which no push service carries.
extension Arrival {
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
}
