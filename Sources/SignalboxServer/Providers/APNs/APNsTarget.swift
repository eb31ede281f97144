/// The resource that a request to the APNs endpoint names. Paths are compared without decoding.
struct APNsTarget: Sendable, Equatable {
    /// The secret of `/s/SECRET/…`; nil for a path without one.
    let secret: String?
    let resource: Resource

    /// The associated texts are as sent: neither decoded nor checked.
    enum Resource: Sendable, Equatable {
        /// `/3/device/TOKEN`; the token may be empty.
        case device(token: String)
        /// `/4/broadcasts/apps/BUNDLE`
        case broadcast(bundle: String)
        /// `/1/apps/BUNDLE/channels`, or with `/ID` after it, as APNSwift sends it.
        case channels(bundle: String, id: String?)
        /// `/1/apps/BUNDLE/all-channels`
        case allChannels(bundle: String)
        /// Another path below `/1/apps`, `/3` and `/4`.
        case unknown

        /// The methods that the resource accepts; none for an unknown one.
        var methods: [String] {
            switch self {
            case .device, .broadcast: ["POST"]
            case .channels(bundle: _, id: nil): ["POST", "GET", "DELETE"]
            case .channels: ["GET", "DELETE"]
            case .allChannels: ["GET"]
            case .unknown: []
            }
        }
    }

    /// Nil for a path of another endpoint.
    init?(path: String) {
        // The fast path: nearly every request has this form.
        if path.utf8.starts(with: "/3/device/".utf8) {
            var token = String(Substring(path.utf8.dropFirst("/3/device/".utf8.count)))
            secret = nil
            resource = token.withUTF8 { $0.contains(UInt8(ascii: "/")) } ? .unknown : .device(token: token)
            return
        }
        // Bytes, because characters take many times as long.
        var parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map(Substring.init)[...]
        guard parts.popFirst() == "", parts.count > 1 else { return nil }
        if parts.first == "s", parts.count > 2 {
            secret = String(parts[parts.startIndex + 1])
            parts = parts.dropFirst(2)
        } else {
            secret = nil
        }
        let rest = Array(parts)
        switch rest[0] {
        case "3": resource = rest.count == 3 && rest[1] == "device" ? .device(token: String(rest[2])) : .unknown
        case "4":
            let isBroadcast = rest.count == 4 && rest[1] == "broadcasts" && rest[2] == "apps"
            resource = isBroadcast ? .broadcast(bundle: String(rest[3])) : .unknown
        case "1" where rest.count > 1 && rest[1] == "apps": resource = Self.management(rest)
        default: return nil
        }
    }

    /// `parts`: those of the path from `1` on, without a secret.
    private static func management(_ parts: [Substring]) -> Resource {
        guard (4...5).contains(parts.count) else { return .unknown }
        let bundle = String(parts[2])
        switch (parts[3], parts.count) {
        case ("channels", 4): return .channels(bundle: bundle, id: nil)
        case ("channels", 5): return .channels(bundle: bundle, id: String(parts[4]))
        case ("all-channels", 4): return .allChannels(bundle: bundle)
        default: return .unknown
        }
    }
}

/// The device token of a path.
enum APNsToken {
    /// Apple does not promise a length: tokens of devices have 64 digits, those of Live Activities up to 160.
    private static let lengths = 64...200

    /// The bytes of the digits in lower case, so that both spellings have one hash. Throws
    /// ``APNsReason/missingDeviceToken`` for empty text, and ``APNsReason/badDeviceToken`` for other characters, an odd
    /// number of digits, and a length that tokens do not have. `isForwarded`: Apple decides on the length.
    static func read(_ text: String, isForwarded: Bool = false) throws(APNsReason) -> [UInt8] {
        guard !text.isEmpty else { throw .missingDeviceToken }
        var digits = Array(text.utf8)
        guard isForwarded || lengths.contains(digits.count), digits.count % 2 == 0 else { throw .badDeviceToken }
        for position in digits.indices {
            switch digits[position] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): break
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digits[position] |= 0x20
            default: throw .badDeviceToken
            }
        }
        return digits
    }
}
