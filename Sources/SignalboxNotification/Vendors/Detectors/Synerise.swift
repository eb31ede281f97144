import SignalboxJSON

/// Synerise (Synerise, "Campaigns: basics"; android-sdk, InjectorApiActivity):
///
///     {"issuer": "Synerise", "message-type": "…", "content-type": "simple-push", "content": {"campaign": {…}}}
///
/// `content-type` determines how to read `content`; `message-type` has no effect. On APNs `content` is an object, in
/// FCM's data the JSON text of one. `Synerise+Campaigns.swift` reads pushes, banners and walkthroughs.
struct Synerise: VendorDetector {
    let vendor = VendorID("synerise")
    var looksFor: String { "`issuer` that is exactly `Synerise`" }
    var looksAt: [StaticString] { ["issuer"] }

    /// Integrators opt out by another value of `issuer`, so only the exact value counts.
    func detect(_ payload: borrowing PlatformPayload) -> Detection? {
        guard let issuer = payload["issuer"], issuer.equals("Synerise") else { return nil }
        return Detection(.proof, evidence: [payload.pointer(to: issuer)])
    }

    func read(_ payload: borrowing PlatformPayload, into notification: inout PushNotification) {
        notification.readSynerise(payload)
    }

    /// The documented values of `content-type`.
    enum ContentType: String {
        /// A visible push.
        case simplePush = "simple-push"
        /// A page over the whole screen.
        case templateBanner = "template-banner"
        /// A command for the app; in old samples also for the SDK.
        case silentCommand = "silent-command"
        /// A command for Synerise's SDK.
        case silentSDKCommand = "silent-sdk-command"
        /// A test of an in-app message.
        case inAppTest = "in-app-test"
        case unknown

        /// `unknown` for a missing type and for one that Synerise does not document.
        init(_ type: JSONValue?) { self = type?.string.flatMap { Self(rawValue: $0) } ?? .unknown }

        /// The kind of a push with unreadable content; nil for an unknown type.
        var kind: PushNotification.Kind? {
            switch self {
            case .simplePush: .alert
            case .templateBanner: .banner
            case .silentCommand: .silent
            case .silentSDKCommand: .control
            case .inAppTest: .inAppMessage
            case .unknown: nil
            }
        }
    }

    // MARK: Keys

    /// A push whose content is encrypted or not an object.
    private static let envelope = KeySchema(["issuer": .any, "message-type": .text, "content-type": .text])

    /// A push with readable content.
    static func root(content: KeySchema) -> KeySchema {
        KeySchema(["content": .objectOrText(content)], extending: envelope)
    }

    /// The identification of the mailing, in every readable content.
    static let campaign = KeySchema(["hash_id": .scalar, "title": .text, "type": .text, "variant_id": .scalar])

    /// A test of an in-app message, of which only the campaign is documented.
    fileprivate static let inAppTest = root(content: KeySchema(["campaign": .object(campaign)]))

    /// The event contains the content of a command unchanged.
    fileprivate static let command = root(
        content: KeySchema(["class_name": .text, "method_name": .text, "method_parameters": .any], isWhole: true))

    /// A push whose content the event keeps in `custom`.
    fileprivate static var unreadable: KeySchema { envelope }
}

extension PushNotification {
    /// Reads the campaign and the content, unless the content is encrypted or unreadable.
    fileprivate mutating func readSynerise(_ payload: borrowing PlatformPayload) {
        let parser = payload.parser
        let type = payload["content-type"]
        vendorKind = type?.text
        // Synerise documents the badge as a string (Synerise, "Campaigns: simple push").
        if self.content.badge != nil { warnings.removeAll { $0.code == "apns.badge-not-a-number" } }
        warnOfMissing("message-type", "synerise.message-type-missing", payload)
        warnOfMissing("content-type", "synerise.content-type-missing", payload)
        warnOfMissing("content", "synerise.content-missing", payload)
        if let encryption = payload["content-encryption"] {
            warn("synerise.content-encrypted", "The content is encrypted and was not read.", at: encryption, in: parser)
            kind = Synerise.ContentType(type).kind ?? kind
            return fillCustom(from: payload, except: Synerise.unreadable)
        }
        guard let content = parser.object(payload["content"]) else {
            if let content = payload["content"] {
                warn(
                    "synerise.content-not-an-object", "The content is neither an object nor the JSON text of one.",
                    at: content, in: parser)
            }
            return fillCustom(from: payload, except: Synerise.unreadable)
        }
        if let given = content["campaign"] {
            let named = Campaign(
                id: given["hash_id"]?.scalarText, name: given["title"]?.text, type: given["type"]?.text,
                variant: given["variant_id"]?.scalarText)
            campaign = named.ifSet ?? campaign
        }
        read(content, as: type, payload)
        bringSyneriseMessage(content, in: payload.parser)
    }

    /// Reads the content by its type. Unknown types are read as a simple push or a walkthrough.
    private mutating func read(_ content: JSONValue, as type: JSONValue?, _ payload: borrowing PlatformPayload) {
        switch Synerise.ContentType(type) {
        case .simplePush:
            readSimplePush(content, in: payload.parser)
            fillCustom(from: payload, except: Synerise.simplePush)
        case .templateBanner:
            readBanner(content, payload)
            fillCustom(
                from: payload, except: Synerise.banner,
                adding: [.member("auto_disappear", content["auto_disappear"], of: "content")])
        case .silentCommand, .silentSDKCommand:
            readCommand(content, type, in: payload.parser)
            fillCustom(from: payload, except: Synerise.command, adding: [.member("content", content, of: "synerise")])
        case .inAppTest:
            // Synerise does not document the rest of the content.
            kind = .inAppMessage
            fillCustom(from: payload, except: Synerise.inAppTest)
        case .unknown:
            // A walkthrough is fetched, not pushed; its pages identify it if a source sends one anyway.
            let isWalkthrough = content["pages"]?.isArray == true
            if isWalkthrough { readWalkthrough(content, payload) } else { readSimplePush(content, in: payload.parser) }
            if let type {
                warn(
                    "synerise.content-type-unknown", "Synerise does not document this content-type.", at: type,
                    in: payload.parser)
            }
            fillCustom(from: payload, except: isWalkthrough ? Synerise.walkthrough : Synerise.simplePush)
        }
    }

    /// A command for the app, or for Synerise's SDK. Old samples send SDK commands as `silent-command`: the class
    /// distinguishes them (Synerise/android-sdk, README).
    private mutating func readCommand(_ content: JSONValue, _ type: JSONValue?, in parser: JSONParser) {
        let isForSDK =
            type?.equals("silent-sdk-command") == true
            || content["class_name"]?.utf8?.hasPrefix("com.synerise.sdk.") == true
        kind = isForSDK ? .control : .silent
        for key in ["class_name", "method_name"] as [StaticString] where content[key] == nil {
            warn(
                "synerise.command-incomplete", "The command has no \(key).", key: key.description, of: content,
                in: parser)
        }
    }

    /// The SDK rejects a push without one of these keys, although it comes from Synerise.
    private mutating func warnOfMissing(_ key: StaticString, _ code: String, _ payload: borrowing PlatformPayload) {
        guard payload[key] == nil, let object = payload.fields.object(with: "issuer") else { return }
        warn(code, "The key \(key) is missing.", key: key.description, of: object, in: payload.parser)
    }
}
