import SignalboxJSON

extension Arrival {
    /// The recipient of a message to Expo's push service, a device token, or a list of recipients (docs.expo.dev, "Send
    /// notifications with the Expo Push Service"). Empty for payloads of other services.
    var expoRecipients: PlatformPayload.Addressing {
        var target = PlatformPayload.Addressing()
        guard let to = root["to"] else { return target }
        if to.isExpoToken {
            target.token = to
        } else if to.isListOfExpoTokens {
            target.add(to)
        }
        return target
    }
}

extension PlatformPayload {
    /// True for a message to Expo's push service. With `data`, it has the envelope of a request to FCM's legacy API.
    package var isForExpo: Bool { root["to"].map { $0.isExpoToken || $0.isListOfExpoTokens } ?? false }
}

extension JSONValue {
    /// True for a list of recipients with a device token of Expo's service.
    fileprivate var isListOfExpoTokens: Bool { elements.prefix(longestList).contains(where: \.isExpoToken) }

    /// True for a device token of Expo's service.
    fileprivate var isExpoToken: Bool {
        utf8.map { $0.hasPrefix("ExponentPushToken[") || $0.hasPrefix("ExpoPushToken[") } ?? false
    }
}
