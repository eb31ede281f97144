import SignalboxJSON

/// In-app messages as Braze's backend hands them to its SDKs: a list of triggers, one trigger, or a message alone. No push
/// brings them (braze-roku-sdk, BrazeSDK.brs; answer of `/api/v3/data`).
struct InApp: EnvelopeFormat {
    let envelope = Envelope.inApp

    func recognises(_ arrival: Arrival) -> Bool {
        let root = arrival.root
        if let triggers = root["triggers"] { return triggers.isArray && Self.isTrigger(firstElement(of: triggers)) }
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

    private func firstElement(of list: JSONValue) -> JSONValue? {
        var elements = list.elements
        return elements.next()
    }

    func payload(of arrival: Arrival) -> PlatformPayload {
        arrival.payload(
            .unknown, envelope, layers: arrival.layer(.none), warnings: WellFormedness(of: arrival).warnings)
    }
}
