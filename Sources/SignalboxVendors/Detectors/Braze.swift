import SignalboxJSON
import SignalboxModel

/// Braze, formerly Appboy: an object `ab` beside `aps`; `_ab` among flat keys of FCM's data, of ADM and of HMS.
struct Braze: VendorDetector {
    var vendor: VendorID { VendorID("braze") }
    var looksFor: String {
        "`_ab` that is `true`, or an object `ab` that is not empty, or in-app messages with their triggers"
    }
    var looksAt: [StaticString] { ["_ab", "ab", "ab_uri", "triggers", "trigger_condition"] }

    /// The iOS SDK asks for nothing but a non-empty `ab`, whose `c` is null for pushes without a campaign
    /// (braze-swift-sdk, ABKPushUtils.m). The Android SDK compares `_ab` in any case in one place and exactly in
    /// another (BrazeFirebaseMessagingService). Apps take `ab_uri` for Braze's, the SDK does not.
    func detect(_ payload: borrowing PlatformPayload) -> Detection? {
        if let marker = payload["_ab"] {
            guard marker.androidFlag else { return nil }
            return Detection(.proof, evidence: [payload.pointer(to: marker)])
        }
        if let ab = payload["ab"], ab.isObject, !ab.isEmptyContainer {
            return Detection(.signature, evidence: [payload.pointer(to: ab)])
        }
        if let marker = inAppEvidence(in: payload) {
            return Detection(.signature, evidence: [payload.pointer(to: marker)])
        }
        if let body = webPush(payload) {
            return Detection(.signature, evidence: body.map { payload.pointer(to: $0) })
        }
        if let link = payload["ab_uri"], link.isString {
            return Detection(.hint, evidence: [payload.pointer(to: link)])
        }
        return nil
    }

    func read(_ payload: borrowing PlatformPayload, into notification: inout PushNotification) {
        if payload.envelope == .inApp {
            readInApp(payload, &notification)
        } else if payload["_ab"] != nil {
            readAndroid(payload, &notification)
        } else if let ab = payload["ab"], ab.isObject {
            readApple(ab, payload, &notification)
        } else {
            readWeb(payload, &notification)
        }
    }

    /// The body of a web push has no marker: the campaign's identifier beside title and text must do, in an envelope
    /// that no app's push comes in, with one of the structures that Braze's service worker reads.
    private func webPush(_ payload: borrowing PlatformPayload) -> [JSONValue]? {
        guard payload.envelope == .other, let campaign = payload["cid"], let title = payload["t"],
            let text = payload["a"], campaign.isString, title.isString, text.isString,
            payload["pab"]?.isArray == true || payload["e"]?.isObject == true || payload["ri"]?.bool != nil
        else { return nil }
        return [campaign, title, text]
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
