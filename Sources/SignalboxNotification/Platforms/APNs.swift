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

    /// The push that asks a managed device to connect to its server: the key `mdm` alone, with the device's PushMagic
    /// (developer.apple.com, "MDM Protocol Reference", "The push notification"). It has no `aps`.
    var isDeviceManagement: Bool {
        var members = root.value.members
        guard let (key, value) = members.next(), members.next() == nil else { return false }
        return key.equals("mdm") && value.isString
    }

    /// The push that tells a file provider of changes: `container-identifier` and `domain`, without `aps`
    /// (developer.apple.com, NSFileProviderManager, `signalEnumerator(for:completionHandler:)`).
    var isFileProviderSignal: Bool {
        guard root["container-identifier"]?.isString == true, root["domain"]?.isString == true else { return false }
        return root.value.members.allSatisfy { key, _ in key.equals("container-identifier") || key.equals("domain") }
    }

    /// Opens a payload for APNs. The vendor's keys are next to `aps`. `envelope`: ``Envelope/apns`` or the one
    /// through FCM, which names the installation that it sends to (firebase-ios-sdk, FIRMessagingConstants.m,
    /// `kFIRMessagingFID`). FCM's HTTP v1 API sends to such an id as to a token (REST reference, `fid`).
    func apns(_ envelope: Envelope) -> PlatformPayload {
        var checks = WellFormedness(of: self)
        checks.checkSizeForAPNs(self)
        let aps = root.block("aps")
        if let aps { checks.checkAPS(aps) } else { checks.warnOfWrongAPS(in: self) }
        var target = PlatformPayload.Addressing()
        if envelope == .apnsThroughFCM { target.add(root["google.c.fid"], under: "google.c.fid") }
        return payload(.apns, envelope, aps: aps, layers: layer(.apns), target: target, warnings: checks.warnings)
    }
}
