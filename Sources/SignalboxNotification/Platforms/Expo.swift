import SignalboxJSON

extension Arrival {
    /// The recipient of a message to Expo's push service, a device token, or a list of recipients (docs.expo.dev, "Send
    /// notifications with the Expo Push Service"). Empty for payloads of other services.
    var expoRecipients: PlatformPayload.Addressing {
        var target = PlatformPayload.Addressing()
        guard let to = root["to"] else { return target }
        if to.isExpoToken {
            target.token = to
        } else if to.elements.prefix(longestList).contains(where: \.isExpoToken) {
            target.add(to)
        }
        return target
    }
}

extension JSONValue {
    /// True for a device token of Expo's service.
    fileprivate var isExpoToken: Bool {
        utf8.map { $0.hasPrefix("ExponentPushToken[") || $0.hasPrefix("ExpoPushToken[") } ?? false
    }
}
