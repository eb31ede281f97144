import SignalboxJSON

/// Braze, formerly Appboy: an object `ab` beside `aps`; `_ab` among flat keys of FCM's data, of ADM and of HMS.
struct Braze: VendorDetector {
    var vendor: VendorID { VendorID("braze") }
    var looksFor: String {
        """
        `_ab` that is `true`, an object `ab` with `c`, `att`, `c_items` or a key that begins with `ab_`, or beside another \
        key of Braze's, `appboy_uninstall_tracking`, `ab_sync_geos` or `ab_push_fetch_test_triggers_key`, the attribute \
        `brazeActivityId` of a Live Activity, or in-app messages with their triggers
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
        if let marker = appleMarker(in: payload) ?? activityMarker(in: payload) ?? inAppEvidence(in: payload) {
            return Detection(.signature, evidence: [payload.pointer(to: marker)])
        }
        if let body = webPush(payload) {
            return Detection(.signature, evidence: body.map { payload.pointer(to: $0) })
        }
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
            readInApp(payload, &notification)
        } else if payload["_ab"] != nil {
            readAndroid(payload, &notification)
        } else if webPush(payload) != nil {
            readWeb(payload, &notification)
        } else {
            readApple(payload, &notification)
        }
    }
}

// MARK: Markers

extension Braze {
    /// The iOS SDK requires only a non-empty `ab` (braze-swift-sdk, ABKPushUtils.m). Apps give their A/B tests the
    /// same name, so one of Braze's keys must be in it or next to it.
    private func appleMarker(in payload: borrowing PlatformPayload) -> JSONValue? {
        let request = housekeepingMarker(in: payload)
        guard let ab = payload["ab"], ab.isObject, !ab.isEmptyContainer else { return request }
        let isBraze =
            hasOwnKey(ab) || request != nil || payload["ab_uri"]?.isString == true
            || payload["ab_use_webview"]?.isSpelled == true
        return isBraze ? ab : nil
    }

    /// `c` is null for pushes without a campaign (braze-docs, "Customization" of push on iOS).
    private func hasOwnKey(_ ab: JSONValue) -> Bool {
        if let campaign = ab["c"], campaign.isString || campaign.isNull { return true }
        if ab["att"]?["url"]?.isString == true || ab["c_items"]?.isArray == true { return true }
        return ab.members.contains { key, _ in key.hasPrefix("ab_") }
    }

    /// Requests to the SDK alone, with or without `ab`.
    private func housekeepingMarker(in payload: borrowing PlatformPayload) -> JSONValue? {
        if let flag = payload["appboy_uninstall_tracking"], flag.appleFlag { return flag }
        if let flag = payload["ab_sync_geos"], flag.appleFlag { return flag }
        if let flag = payload["ab_push_fetch_test_triggers_key"], flag.appleFlag { return flag }
        return nil
    }

    /// The attribute by which the SDK knows a Live Activity that Braze starts (braze-docs, "Live Activities",
    /// `BrazeLiveActivityAttributes`).
    private func activityMarker(in payload: borrowing PlatformPayload) -> JSONValue? {
        guard let marker = payload.aps?["attributes"]?["brazeActivityId"], marker.isString else { return nil }
        return marker
    }

    /// The body of a web push has no marker: the campaign's identifier beside title and text must do, in an envelope
    /// that no app's push comes in, with one of the structures that Braze's service worker reads.
    private func webPush(_ payload: borrowing PlatformPayload) -> [JSONValue]? {
        guard payload.envelope == .other, let campaign = payload["cid"], let title = payload["t"],
            let text = payload["a"], campaign.isString, title.isString, text.isString
        else { return nil }
        let hasStructure =
            payload["pab"]?.isArray == true || payload["e"]?.isObject == true || payload["ri"]?.bool != nil
        guard hasStructure, isComposite(campaign) || hasOwnButton(payload["pab"]) else { return nil }
        return [campaign, title, text]
    }

    private func hasOwnButton(_ list: JSONValue?) -> Bool {
        list?.elements.prefix(longestList).contains { $0["a"]?.utf8?.hasPrefix("ab_") == true } ?? false
    }

    /// A campaign's identifier is the Base64 of two others and the suffix `cmp`, so it ends in one of three ways.
    private func isComposite(_ campaign: JSONValue) -> Bool {
        guard let text = campaign.utf8, text.count.isMultiple(of: 4) else { return false }
        let isLong = text.count >= 32
        let endsAsCampaign = ["Y21w", "cA==", "bXA="].contains { text.suffix(4).elementsEqual($0.utf8) }
        guard isLong || endsAsCampaign else { return false }
        return text.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"): true
            default: byte == UInt8(ascii: "+") || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "=")
            }
        }
    }
}

// MARK: Housekeeping

extension Braze {
    /// What only the SDK acts upon. Those that fetch something can come with a visible push, uninstall tracking never.
    enum Housekeeping: String {
        case uninstallTracking = "uninstall-tracking"
        case geofenceSync = "geofence-sync"
        case featureFlagRefresh = "feature-flag-refresh"
        case bannerRefresh = "banner-refresh"
        case testInAppMessage = "test-in-app-message"
    }

    func note(_ housekeeping: Housekeeping?, _ notification: inout PushNotification) {
        guard let housekeeping else { return }
        notification.vendorKind = housekeeping.rawValue
        if housekeeping == .uninstallTracking || notification.kind == .silent { notification.kind = .control }
    }
}

// MARK: Actions

extension Braze {
    /// Types go by three sets of names: those of the REST API and, on the wire, Android's. Which of them iOS gets is not
    /// documented, so all are read everywhere. A link that is missing opens the app (braze-android-sdk).
    func readAction(type: JSONValue?, link: JSONValue?, inWebView: Bool) -> Action {
        let word = type?.text
        switch word {
        case "ab_uri", "URI", "DEEP_LINK":
            let opening = link.flatMap { Action.opening($0, inWebView: inWebView, vendorType: word) }
            return opening ?? Action(.openApp, vendorType: word)
        case "ab_open", "OPEN_APP": return Action(.openApp, vendorType: word)
        case "ab_none", "CLOSE": return Action(.dismiss, vendorType: word)
        default: return Action(.custom, value: link?.text, vendorType: word)
        }
    }

    /// What a tap on the notification itself does; nothing when there is none to tap on.
    func readTap(link: JSONValue?, inWebView: Bool, _ notification: inout PushNotification) {
        guard notification.kind == .alert else { return }
        notification.action = link.flatMap { .opening($0, inWebView: inWebView) } ?? Action(.openApp)
    }
}
