import SignalboxJSON

/// Braze, formerly Appboy. Its payloads have four forms, each with a file of its own for keys and reading:
///
/// - APNs: an object `ab` next to `aps` (`Braze+Apple.swift`)
/// - FCM's data, ADM, HMS: flat keys with `_ab` among them (`Braze+Android.swift`)
/// - web push: the body for Braze's service worker (`Braze+InApp.swift`)
/// - in-app messages with their triggers (`Braze+InApp.swift`)
///
/// Keys: braze-docs, push_payload.json, apple_object.md and android_object.md; braze-swift-sdk, ABKPushUtils.m;
/// braze-android-sdk, constant values; braze-roku-sdk, BrazeSDK.brs.
struct Braze: VendorDetector {
    let vendor = VendorID("braze")
    var looksFor: String {
        """
        `_ab` that is `true`, an object `ab` with a `c` of Braze's, `att`, `c_items`, `ab_cat`, `ab_carousel` or \
        `ab_cd`, or next to another key of Braze's, `appboy_uninstall_tracking`, \
        `ab_sync_geos` or `ab_push_fetch_test_triggers_key`, the attribute `brazeActivityId` of a Live Activity, or \
        in-app messages with their triggers
        """
    }
    var looksAt: [StaticString] { ["_ab", "ab", "ab_uri", "triggers", "trigger_condition"] }

    /// The Android SDK compares `_ab` in any case in one place and exactly in another (BrazeFirebaseMessagingService).
    /// Apps recognise Braze by `ab_uri`; the SDK does not.
    func detect(_ payload: borrowing PlatformPayload) -> Detection? {
        if let marker = payload["_ab"] {
            guard marker.androidFlag else { return nil }
            return Detection(.proof, evidence: [payload.pointer(to: marker)])
        }
        if let marker = appleMarker(in: payload) ?? activityMarker(in: payload) ?? inAppMarker(in: payload) {
            return Detection(.signature, evidence: [payload.pointer(to: marker)])
        }
        if let body = webPush(payload) { return Detection(.signature, evidence: body.map { payload.pointer(to: $0) }) }
        if let hint = payload["ab_uri"], hint.isString {
            return Detection(.hint, evidence: [payload.pointer(to: hint)])
        }
        if let hint = payload["ab"], hint.isObject, !hint.isEmptyContainer {
            return Detection(.hint, evidence: [payload.pointer(to: hint)])
        }
        return nil
    }

    func read(_ payload: borrowing PlatformPayload, into notification: inout PushNotification) {
        if payload.envelope == .inApp {
            notification.readBrazeInApp(payload)
        } else if payload["_ab"] != nil {
            notification.readBrazeAndroid(payload)
        } else if webPush(payload) != nil {
            notification.readBrazeWeb(payload)
        } else {
            notification.readBrazeApple(payload)
        }
    }
}

// MARK: Markers

extension Braze {
    /// The iOS SDK requires only a non-empty `ab` (braze-swift-sdk, ABKPushUtils.m). Apps give their A/B tests the
    /// same name, so one of Braze's keys must be in it or next to it.
    private func appleMarker(in payload: borrowing PlatformPayload) -> JSONValue? {
        let request = requestMarker(in: payload)
        guard let ab = payload["ab"], ab.isObject, !ab.isEmptyContainer else { return request }
        let isBraze =
            hasOwnKey(ab) || request != nil || payload["ab_uri"]?.isString == true
            || payload["ab_use_webview"]?.hasScalarText == true
        return isBraze ? ab : nil
    }

    /// `c` is null for pushes without a campaign (braze-docs, "Customization" of push on iOS). A text of another form
    /// may be the group of an app's own test; other keys that begin with `ab_`, such as `ab_group`, may be its keys.
    private func hasOwnKey(_ ab: JSONValue) -> Bool {
        if let campaign = ab["c"], campaign.isNull || isComposite(campaign) { return true }
        if ab["att"]?["url"]?.isString == true || ab["c_items"]?.isArray == true { return true }
        let keys = JSONObject(ab)
        return keys["ab_cat"] != nil || keys["ab_carousel"] != nil || keys["ab_cd"] != nil
    }

    /// Requests to the SDK alone, with or without `ab`. Constant keys, because the chain asks for every payload.
    private func requestMarker(in payload: borrowing PlatformPayload) -> JSONValue? {
        if let flag = payload["appboy_uninstall_tracking"], flag.appleFlag { return flag }
        if let flag = payload["ab_sync_geos"], flag.appleFlag { return flag }
        if let flag = payload["ab_push_fetch_test_triggers_key"], flag.appleFlag { return flag }
        return nil
    }

    /// The attribute by which the SDK recognises a Live Activity that Braze starts (braze-docs, "Live Activities",
    /// `BrazeLiveActivityAttributes`).
    private func activityMarker(in payload: borrowing PlatformPayload) -> JSONValue? {
        guard let marker = payload.aps?["attributes"]?["brazeActivityId"], marker.isString else { return nil }
        return marker
    }

    /// No other vendor's payloads contain the conditions next to the message, or the effect of closing the message
    /// next to the effect of a tap.
    private func inAppMarker(in payload: borrowing PlatformPayload) -> JSONValue? {
        guard payload.envelope == .inApp else { return nil }
        return payload["triggers"] ?? payload["trigger_condition"] ?? payload["message_close"]
    }

    /// The body of a web push has no marker. The campaign's identifier, title and text identify it, in an envelope
    /// that no app's push uses, with one of the structures that Braze's service worker reads.
    private func webPush(_ payload: borrowing PlatformPayload) -> [JSONValue]? {
        guard payload.envelope == .other, let campaign = payload["cid"], let title = payload["t"],
            let text = payload["a"], campaign.isString, title.isString, text.isString
        else { return nil }
        let hasStructure =
            payload["pab"]?.isArray == true || payload["e"]?.isObject == true || payload["ri"]?.bool != nil
        guard hasStructure, isComposite(campaign) || hasOwnButton(payload["pab"]) else { return nil }
        return [campaign, title, text]
    }

    /// True if a button has one of Braze's own types.
    private func hasOwnButton(_ list: JSONValue?) -> Bool {
        list?.elements.prefix(longestList).contains { $0["a"]?.utf8?.hasPrefix("ab_") == true } ?? false
    }

    /// A campaign's identifier is the Base64 of two others and the suffix `cmp`, so it ends in one of three ways.
    private func isComposite(_ campaign: JSONValue) -> Bool {
        guard let text = campaign.utf8, text.count.isMultiple(of: 4) else { return false }
        let endsAsCampaign = ["Y21w", "cA==", "bXA="].contains { text.suffix(4).elementsEqual($0.utf8) }
        guard text.count >= 32 || endsAsCampaign else { return false }
        return text.allSatisfy { $0.isLetterOrDigit || "+/=".utf8.contains($0) }
    }
}

// MARK: Parts of several forms

extension Braze {
    /// The keys of requests on which only the SDK acts, the first of which counts, with their names in events
    /// (braze-swift-sdk, ABKPushUtils.m).
    static let appleRequests: [(key: StaticString, name: String)] = [
        ("appboy_uninstall_tracking", uninstallTracking), ("ab_sync_geos", "geofence-sync"),
        ("ab_push_fetch_test_triggers_key", "test-in-app-message"),
    ]

    /// The same on Android, without uninstall tracking (braze-android-sdk, constant values and
    /// BrazeNotificationUtils.kt).
    static let androidRequests: [(key: StaticString, name: String)] = [
        ("ab_sync_geos", "geofence-sync"), ("br_ffr", "feature-flag-refresh"), ("br_br", "banner-refresh"),
        ("ab_push_fetch_test_triggers_key", "test-in-app-message"),
    ]

    /// The name in events of a push that only detects whether the app is installed.
    static let uninstallTracking = "uninstall-tracking"

    /// The name of the first request whose value is suitable.
    static func request(
        in payload: borrowing PlatformPayload, of requests: [(key: StaticString, name: String)],
        where isSet: (JSONValue) -> Bool
    ) -> String? {
        for (key, name) in requests {
            if let value = payload[key], isSet(value) { return name }
        }
        return nil
    }

    /// The effect of a button. There are three sets of types: those of the REST API and, on the wire, Android's.
    /// Braze does not document which of them iOS receives, so all are read in every form. Without its link, a button
    /// opens the app (braze-android-sdk).
    static func action(type: JSONValue?, link: String?, inWebView: Bool) -> Action {
        let word = type?.text
        switch word {
        case "ab_uri", "URI", "DEEP_LINK":
            let opening = link.map { Action.opening($0, inWebView: inWebView, vendorType: word) }
            return opening ?? Action(.openApp, vendorType: word)
        case "ab_open", "OPEN_APP": return Action(.openApp, vendorType: word)
        case "ab_none", "CLOSE": return Action(.dismiss, vendorType: word)
        default: return Action(.custom, value: link, vendorType: word)
        }
    }
}

extension PushNotification {
    /// Names the request to the SDK. Uninstall tracking never comes with a visible push, the others can; a push that
    /// shows nothing else is of the kind control.
    mutating func readBrazeRequest(_ name: String?) {
        guard let name else { return }
        vendorKind = name
        if name == Braze.uninstallTracking || kind == .silent { kind = .control }
    }

    /// The effect of a tap on the notification itself; none if the push shows none. Returns a link without a
    /// notification to tap, which the event keeps in ``custom``.
    @discardableResult
    mutating func readBrazeTap(link: JSONValue?, inWebView: Bool) -> JSONValue? {
        guard kind == .alert else { return link?.hasText == true ? link : nil }
        action = link.flatMap { .opening($0, inWebView: inWebView) } ?? Action(.openApp)
        return nil
    }
}
