import Foundation
import SignalboxJSON
import SignalboxNotification

extension PlatformPayload {
    /// When the push service would discard this message; nil if it would keep it as long as possible.
    ///
    /// A request to FCM has an expiry for each platform: the message expires with the last of them. `apns-expiration`
    /// is a time in Unix seconds. `ttl`, including Expo's, and `time_to_live` count from the time the service receives
    /// the message, assumed to be now. Zero requests one immediate attempt, which every new event gets.
    /// Source: developer.apple.com, "Sending notification requests to APNs"; firebase.google.com, "REST Resource:
    /// projects.messages", AndroidConfig, WebpushConfig and ApnsConfig; docs.expo.dev, "Send notifications with the
    /// Expo Push Service"
    func expiry(receivedAt: Date) -> Date? {
        switch envelope {
        case .fcmV1: requestExpiry(receivedAt)
        case .fcmLegacy where isForExpo, .other where isForExpo:
            root["ttl"]?.integer.flatMap { Self.after($0, receivedAt) }
        case .fcmLegacy: root["time_to_live"]?.integer.flatMap { Self.after($0, receivedAt) }
        default: nil
        }
    }

    /// Nil if one of the platforms of the request states no expiry: that message is kept as long as possible.
    private func requestExpiry(_ receivedAt: Date) -> Date? {
        let message = root["message"].flatMap { $0.isObject ? $0 : nil } ?? root
        var expiries: [Date?] = []
        if let android = message["android"], android.isObject {
            expiries.append(Self.seconds(android["ttl"]).flatMap { Self.after($0, receivedAt) })
        }
        if let headers = message["apns"]?["headers"], headers.isObject {
            let time = Self.seconds(headers["apns-expiration"]).flatMap { $0 > 0 ? Timestamp(seconds: $0) : nil }
            expiries.append(time.map { Date(timeIntervalSince1970: TimeInterval($0.milliseconds) / 1000) })
        } else if message["apns"] != nil {
            expiries.append(nil)
        }
        if let web = message["webpush"], web.isObject {
            expiries.append(Self.seconds(web["headers"]?["TTL"]).flatMap { Self.after($0, receivedAt) })
        }
        let known = expiries.compactMap(\.self)
        return known.count == expiries.count ? known.max() : nil
    }

    /// Whole seconds of a number, or of its text with or without the `s` and the decimals of a protobuf duration.
    private static func seconds(_ value: JSONValue?) -> Int64? {
        guard let value else { return nil }
        if let number = value.integer { return number }
        guard var text = value.string?[...] else { return nil }
        if text.last == "s" { text.removeLast() }
        guard let whole = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).first else {
            return nil
        }
        return Int64(whole)
    }

    /// Nil for a time beyond the calendar, which means as long as possible.
    private static func after(_ seconds: Int64, _ start: Date) -> Date? {
        guard seconds > 0 else { return nil }
        let (end, overflows) = Int64(start.timeIntervalSince1970.rounded(.down)).addingReportingOverflow(seconds)
        guard !overflows, Timestamp(seconds: end) != nil else { return nil }
        return start.addingTimeInterval(TimeInterval(seconds))
    }
}
