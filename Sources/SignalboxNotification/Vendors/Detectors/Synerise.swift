import SignalboxJSON

/// Synerise: `issuer` names it, `content-type` says how to read `content`. On APNs `content` is an object, in FCM's data
/// the JSON text of one (Synerise, "Campaigns: basics"; android-sdk, InjectorApiActivity).
struct Synerise: VendorDetector {
    var vendor: VendorID { VendorID("synerise") }
    var looksFor: String { "`issuer` that is exactly `Synerise`" }
    var looksAt: [StaticString] { ["issuer"] }

    /// Integrators opt out by writing something else as `issuer`, so nothing but the exact value counts.
    func detect(_ payload: borrowing PlatformPayload) -> Detection? {
        guard let issuer = payload["issuer"], issuer.equals("Synerise") else { return nil }
        return Detection(.proof, evidence: [payload.pointer(to: issuer)])
    }

    func read(_ payload: borrowing PlatformPayload, into notification: inout PushNotification) {
        notification.vendorKind = payload["content-type"]?.text
        acceptBadgeAsText(&notification)
        warnOfMissingKeys(payload, &notification)
        if let encryption = payload["content-encryption"] {
            notification.warn(
                "synerise.content-encrypted", "The content is encrypted and was not read.", at: encryption,
                in: payload.parser)
            readOpaque(payload["content-type"], &notification)
            notification.custom = CustomFields.text(of: payload, except: Self.opaque, &notification)
            return
        }
        guard let content = payload.parser.object(payload["content"]) else {
            warnOfUnreadableContent(payload, &notification)
            notification.custom = CustomFields.text(of: payload, except: Self.opaque, &notification)
            return
        }
        readCampaign(content["campaign"], &notification)
        read(content, as: payload["content-type"], payload, into: &notification)
    }

    /// `message-type` has no say in how a push is handled (Synerise, "Campaigns: basics"), `content-type` has.
    private func read(
        _ content: JSONValue, as type: JSONValue?, _ payload: borrowing PlatformPayload,
        into notification: inout PushNotification
    ) {
        var additions: [CustomFields.Addition] = []
        var shape = Self.simplePush
        switch ContentType(type) {
        case .simplePush: readSimplePush(content, payload, &notification)
        case .templateBanner:
            readBanner(content, payload, &notification)
            additions = [.member("auto_disappear", content["auto_disappear"], of: "content")]
            shape = Self.banner
        case .silentCommand, .silentSDKCommand:
            readCommand(content, type, payload, &notification)
            additions = [.member("content", content, of: "synerise")]
            shape = Self.command
        case .inAppTest:
            // What else it holds is not documented.
            notification.kind = .inAppMessage
            shape = Self.inAppTest
        case .unknown:
            shape = readUnknown(content, payload, &notification)
            guard let type else { break }
            notification.warn(
                "synerise.content-type-unknown", "No push of Synerise has this content-type.", at: type,
                in: payload.parser)
        }
        notification.custom = CustomFields.text(of: payload, except: shape, &notification, adding: additions)
    }

    /// Synerise documents the badge as a string (Synerise, "Campaigns: simple push").
    private func acceptBadgeAsText(_ notification: inout PushNotification) {
        guard notification.content.badge != nil else { return }
        notification.warnings.removeAll { $0.code == "apns.badge-not-a-number" }
    }

    /// What comes encrypted is known by its type alone.
    private func readOpaque(_ type: JSONValue?, _ notification: inout PushNotification) {
        switch ContentType(type) {
        case .simplePush: notification.kind = .alert
        case .templateBanner: notification.kind = .banner
        case .silentCommand: notification.kind = .silent
        case .silentSDKCommand: notification.kind = .control
        case .inAppTest: notification.kind = .inAppMessage
        case .unknown: break
        }
    }

    /// A walkthrough is fetched, not pushed; handed in all the same it is known by its pages.
    private func readUnknown(
        _ content: JSONValue, _ payload: borrowing PlatformPayload, _ notification: inout PushNotification
    ) -> Shape {
        guard let pages = content["pages"], pages.isArray else {
            readSimplePush(content, payload, &notification)
            return Self.simplePush
        }
        readWalkthrough(pages, payload, &notification)
        return Self.walkthrough
    }

    private func readCommand(
        _ content: JSONValue, _ type: JSONValue?, _ payload: borrowing PlatformPayload,
        _ notification: inout PushNotification
    ) {
        notification.kind = isForSDK(content, type) ? .control : .silent
        for key in ["class_name", "method_name"] as [StaticString] where content[key] == nil {
            notification.warn(
                "synerise.command-incomplete", "A command names a class and a method.", key: key.description,
                of: content, in: payload.parser)
        }
    }

    private enum ContentType {
        case simplePush, templateBanner, silentCommand, silentSDKCommand, inAppTest, unknown

        init(_ type: JSONValue?) {
            self =
                switch type?.string {
                case "simple-push": .simplePush
                case "template-banner": .templateBanner
                case "silent-command": .silentCommand
                case "silent-sdk-command": .silentSDKCommand
                case "in-app-test": .inAppTest
                default: .unknown
                }
        }
    }

    /// Old samples send SDK commands as `silent-command`: the class tells (Synerise/android-sdk, README).
    private func isForSDK(_ content: JSONValue, _ type: JSONValue?) -> Bool {
        type?.equals("silent-sdk-command") == true
            || content["class_name"]?.utf8?.hasPrefix("com.synerise.sdk.") == true
    }

    private func readCampaign(_ campaign: JSONValue?, _ notification: inout PushNotification) {
        guard let campaign else { return }
        let read = PushNotification.Campaign(
            id: campaign["hash_id"]?.spelled, name: campaign["title"]?.text, type: campaign["type"]?.text,
            variant: campaign["variant_id"]?.spelled)
        if !read.isEmpty { notification.campaign = read }
    }
}

// MARK: What is missing

extension Synerise {
    /// The SDK takes a push without one of these for an error, yet it comes from Synerise.
    private func warnOfMissingKeys(_ payload: borrowing PlatformPayload, _ notification: inout PushNotification) {
        warn("synerise.message-type-missing", ofMissing: "message-type", payload, &notification)
        warn("synerise.content-type-missing", ofMissing: "content-type", payload, &notification)
        warn("synerise.content-missing", ofMissing: "content", payload, &notification)
    }

    private func warn(
        _ code: String, ofMissing key: StaticString, _ payload: borrowing PlatformPayload,
        _ notification: inout PushNotification
    ) {
        guard payload[key] == nil, let home = payload.fields.object(with: "issuer") else { return }
        notification.warn(
            code, "Every Synerise push has a \(key).", key: key.description, of: home, in: payload.parser)
    }

    private func warnOfUnreadableContent(_ payload: borrowing PlatformPayload, _ notification: inout PushNotification) {
        guard let content = payload["content"] else { return }
        notification.warn(
            "synerise.content-not-an-object", "The content is neither an object nor the JSON text of one.",
            at: content, in: payload.parser)
    }
}
