/// Why the APNs endpoint rejects a request, in Apple's words.
/// Source: developer.apple.com, "Handling notification responses from APNs" and "Handling error responses from Apple
/// Push Notification service"
enum APNsReason: String, Error, CaseIterable {
    /// The identifier of a channel is not base64 of at most 64 bytes.
    case badChannelID = "BadChannelId"
    /// `apns-collapse-id` has more than 64 bytes.
    case badCollapseID = "BadCollapseId"
    /// The token in the path is not an even number of 64 to 200 hexadecimal digits.
    case badDeviceToken = "BadDeviceToken"
    /// `apns-expiration` is not a whole number of seconds, or is not 0 for a channel that stores no message.
    case badExpirationDate = "BadExpirationDate"
    /// `apns-id` or `apns-request-id` is not a UUID in its canonical form.
    case badMessageID = "BadMessageId"
    /// `apns-priority` is not 10, 5 or 1.
    case badPriority = "BadPriority"
    /// The label of the run is not valid. Apple uses the word for other parameters.
    case badRequestParams = "BadRequestParams"
    /// The body of a request to create a channel is not understood.
    case badRequestPayload = "BadRequestPayload"
    /// The topic, or the app in the path, is not 1 to 255 letters, digits, `-`, `_` and `.`.
    case badTopic = "BadTopic"
    /// The app, or the whole gateway, has as many channels as are permitted.
    case cannotCreateChannel = "CannotCreateChannelConfig"
    /// The app has no such channel, or it belongs to another source.
    case channelNotRegistered = "ChannelNotRegistered"
    /// A field that APNs knows occurs twice.
    case duplicateHeaders = "DuplicateHeaders"
    /// Apple does not document the push type; for broadcasts and channels, it is not `liveactivity`.
    case invalidPushType = "InvalidPushType"
    /// Neither `apns-channel-id` nor the path names a channel.
    case missingChannelID = "MissingChannelId"
    /// The path ends after `/3/device/`.
    case missingDeviceToken = "MissingDeviceToken"
    /// A broadcast, or a new channel, has no push type. Pushes to devices may leave it out.
    case missingPushType = "MissingPushType"
    /// The request has no `apns-topic`, and no certificate whose UID replaces it.
    case missingTopic = "MissingTopic"
    /// The body is empty or is not JSON.
    case payloadEmpty = "PayloadEmpty"
    /// The topic of a push belongs to another source. ``topicMismatch`` is the word for broadcasts and channels.
    case topicDisallowed = "TopicDisallowed"
    /// No source lists the client certificate, and the request has no other proof.
    case badCertificate = "BadCertificate"
    /// The `iat` of a valid token is more than an hour ago.
    case expiredProviderToken = "ExpiredProviderToken"
    /// Without sources: a proxy or a page of another site sent the request.
    case forbidden = "Forbidden"
    /// The token cannot be verified, or is of another team than the first one of the connection; or the secret in the
    /// path is unknown. The log of the gateway has the detail.
    case invalidProviderToken = "InvalidProviderToken"
    /// The request has neither a token nor a certificate nor a secret in its path.
    case missingProviderToken = "MissingProviderToken"
    /// The app of a broadcast or channel belongs to another source.
    case topicMismatch = "TopicMismatch"
    /// The token has another `kid` than the first one of the connection, and the source is strict about it.
    case unrelatedKey = "UnrelatedKeyIdInToken"
    /// The path names no resource of APNs.
    case badPath = "BadPath"
    /// The resource exists, but not with this method.
    case methodNotAllowed = "MethodNotAllowed"
    /// The body has more than 4,096 bytes, 5,120 for VoIP calls and broadcasts; or its routes take too much work.
    case payloadTooLarge = "PayloadTooLarge"
    /// The team has sent a third new token within 20 minutes, and the source is strict about it.
    case tooManyTokenUpdates = "TooManyProviderTokenUpdates"
    /// The source exceeds one of its limits. Apple uses the word for many pushes to one device.
    case tooManyRequests = "TooManyRequests"
    /// The queue, the memory for bodies or the real push service is not available; or the request cannot be forwarded.
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

    /// True for a request whose sender could not prove its identity. A topic of another source is not a failed proof:
    /// its sender is known.
    var isFailedProof: Bool {
        switch self {
        case .badCertificate, .expiredProviderToken, .forbidden, .invalidProviderToken, .missingProviderToken,
            .unrelatedKey:
            true
        default: false
        }
    }
}
