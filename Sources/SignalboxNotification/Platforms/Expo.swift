import SignalboxJSON

extension Arrival {
    /// The recipient of a message to Expo's push service, a device token (docs.expo.dev, "Send notifications with the
    /// Expo Push Service"). Nil for several recipients and for payloads of other services.
    var expoRecipient: JSONValue? {
        guard let to = root["to"], let text = to.utf8 else { return nil }
        return text.hasPrefix("ExponentPushToken[") || text.hasPrefix("ExpoPushToken[") ? to : nil
    }
}
