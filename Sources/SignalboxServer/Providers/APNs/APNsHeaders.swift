import SignalboxGateway
import SignalboxNotification

/// The header fields of a request to the APNs endpoint. Fields that APNs does not know are ignored.
/// Source: developer.apple.com, "Sending notification requests to APNs"
struct APNsHeaders: Sendable {
    /// The values of `apns-id`, `apns-topic`, `apns-push-type`, `apns-priority`, `apns-expiration`, `apns-collapse-id`,
    /// `apns-channel-id` and `apns-request-id`, as sent and not checked; nil without the field.
    private(set) var id, topic, pushType, priority, expiration, collapseID, channelID, requestID: String?
    /// The field with its scheme; a secret, which must not be logged.
    private(set) var authorization: String?
    /// True if one of these fields is repeated. The first one counts then.
    private(set) var hasDuplicates = false

    /// Reads the fields once, in their order. Names must be in lower case.
    init(_ headers: [(name: String, value: String)]) {
        var isRepeated = false
        /// Sets a field, or records that it is repeated.
        func set(_ field: inout String?, _ value: String) {
            if field == nil { field = value } else { isRepeated = true }
        }
        // The first letter of all of them, because a comparison of texts takes many times as long.
        for (name, value) in headers where name.utf8.first == UInt8(ascii: "a") {
            switch name {
            case "authorization": set(&authorization, value)
            case "apns-id": set(&id, value)
            case "apns-topic": set(&topic, value)
            case "apns-push-type": set(&pushType, value)
            case "apns-priority": set(&priority, value)
            case "apns-expiration": set(&expiration, value)
            case "apns-collapse-id": set(&collapseID, value)
            case "apns-channel-id": set(&channelID, value)
            case "apns-request-id": set(&requestID, value)
            default: break
            }
        }
        hasDuplicates = isRepeated
    }
}

// MARK: Values

extension APNsHeaders {
    /// The types of push that Apple documents. Compared byte for byte, so `Alert` is unknown.
    private static let pushTypes: Set<String> = [
        "alert", "background", "location", "voip", "complication", "fileprovider", "mdm", "liveactivity", "pushtotalk",
        "widgets", "controls",
    ]
    /// In bytes of UTF-8 (developer.apple.com, "Sending notification requests to APNs").
    private static let largestCollapseID = 64

    /// Throws unless the identifier is a UUID in its canonical form, in either case. Nil passes: ``APNsReply`` makes an
    /// identifier then. Throws ``APNsReason/badMessageID``.
    static func checkID(_ id: String?) throws(APNsReason) {
        guard let id else { return }
        let isUUID =
            id.utf8.count == 36
            && id.utf8.enumerated().allSatisfy { position, character in
                switch position {
                case 8, 13, 18, 23: character == UInt8(ascii: "-")
                default: character.isHexDigit
                }
            }
        guard isUUID else { throw .badMessageID }
    }

    /// `other`: the topic of a request without `apns-topic`. Not used instead of an empty field. Throws
    /// ``APNsReason/missingTopic`` for an absent or empty topic, and ``APNsReason/badTopic`` for one that ``TopicRule``
    /// does not allow.
    func readTopic(default other: String?) throws(APNsReason) -> String {
        guard let topic = topic ?? other, !topic.isEmpty else { throw .missingTopic }
        guard TopicRule.allows(topic) else { throw .badTopic }
        return topic
    }

    /// Nil without the header, which old clients do not send. `isForwarded`: Apple decides on a type that the gateway
    /// does not know. Otherwise throws ``APNsReason/invalidPushType`` for it.
    func readPushType(isForwarded: Bool = false) throws(APNsReason) -> String? {
        if hasUnknownPushType, !isForwarded { throw .invalidPushType }
        return pushType
    }

    /// True for a type that Apple does not document.
    var hasUnknownPushType: Bool { pushType.map { !Self.pushTypes.contains($0) } ?? false }

    /// Nil without the header. APNs then takes 10. Throws ``APNsReason/badPriority`` for any text other than `10`, `5`
    /// and `1`.
    func readPriority() throws(APNsReason) -> Int? {
        guard let priority else { return nil }
        switch priority {
        case "10": return 10
        case "5": return 5
        case "1": return 1
        default: throw .badPriority
        }
    }

    /// Unix seconds; nil without the header. 0 means one attempt. Throws ``APNsReason/badExpirationDate`` for an empty
    /// field, a sign, a fraction, and a number beyond 63 bits.
    func readExpiration() throws(APNsReason) -> Int64? {
        guard let expiration else { return nil }
        guard !expiration.isEmpty, expiration.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains),
            let seconds = Int64(expiration)
        else { throw .badExpirationDate }
        return seconds
    }

    /// Nil without the header, and for an empty one. Throws ``APNsReason/badCollapseID`` for more than 64 bytes, not
    /// characters.
    func readCollapseID() throws(APNsReason) -> String? {
        guard let collapseID, !collapseID.isEmpty else { return nil }
        guard collapseID.utf8.count <= Self.largestCollapseID else { throw .badCollapseID }
        return collapseID
    }
}

extension ProviderPush.Expiration {
    /// `seconds`: the value of `apns-expiration`. A time beyond the calendar means as long as possible. Nil leaves the
    /// end to the body.
    init(apns seconds: Int64?) {
        switch seconds {
        case nil: self = .unlimited
        case .some(0): self = .once
        case .some(let seconds): self = Timestamp(seconds: seconds).map { .at($0.date) } ?? .unlimited
        }
    }
}
