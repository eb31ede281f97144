/// Why the APNs endpoint rejects a request, in Apple's words.
/// Source: developer.apple.com, "Handling notification responses from APNs" and "Handling error responses from Apple
/// Push Notification service"
enum APNsReason: String, Error, CaseIterable {
    case badChannelID = "BadChannelId"
    case badCollapseID = "BadCollapseId"
    case badDeviceToken = "BadDeviceToken"
    case badExpirationDate = "BadExpirationDate"
    case badMessageID = "BadMessageId"
    case badPriority = "BadPriority"
    case badRequestParams = "BadRequestParams"
    case badRequestPayload = "BadRequestPayload"
    case badTopic = "BadTopic"
    case cannotCreateChannel = "CannotCreateChannelConfig"
    case channelNotRegistered = "ChannelNotRegistered"
    case duplicateHeaders = "DuplicateHeaders"
    case invalidPushType = "InvalidPushType"
    case missingChannelID = "MissingChannelId"
    case missingDeviceToken = "MissingDeviceToken"
    case missingPushType = "MissingPushType"
    case missingTopic = "MissingTopic"
    case payloadEmpty = "PayloadEmpty"
    case topicDisallowed = "TopicDisallowed"
    case badCertificate = "BadCertificate"
    case expiredProviderToken = "ExpiredProviderToken"
    case forbidden = "Forbidden"
    case invalidProviderToken = "InvalidProviderToken"
    case missingProviderToken = "MissingProviderToken"
    case topicMismatch = "TopicMismatch"
    case unrelatedKey = "UnrelatedKeyIdInToken"
    case badPath = "BadPath"
    case methodNotAllowed = "MethodNotAllowed"
    case payloadTooLarge = "PayloadTooLarge"
    case tooManyTokenUpdates = "TooManyProviderTokenUpdates"
    case tooManyRequests = "TooManyRequests"
    case serviceUnavailable = "ServiceUnavailable"

    /// The HTTP status.
    var status: Int {
        switch self {
        case .badPath: 404
        case .methodNotAllowed: 405
        case .payloadTooLarge: 413
        case .tooManyTokenUpdates, .tooManyRequests: 429
        case .serviceUnavailable: 503
        case .badCertificate, .expiredProviderToken, .forbidden, .invalidProviderToken, .missingProviderToken,
            .topicMismatch, .unrelatedKey:
            403
        default: 400
        }
    }

    /// True for a request whose sender could not prove its identity.
    var isFailedProof: Bool {
        switch self {
        case .badCertificate, .expiredProviderToken, .forbidden, .invalidProviderToken, .missingProviderToken,
            .unrelatedKey:
            true
        default: false
        }
    }
}
