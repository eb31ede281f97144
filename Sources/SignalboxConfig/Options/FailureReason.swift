package import SignalboxNotification

/// A push service's error code for a rejected push, with the status of the response.
/// Sources: developer.apple.com, "Handling notification responses from APNs"; firebase.google.com, "REST Resource:
/// ErrorCode"; docs.expo.dev, "Send notifications with the Expo Push Service"
package struct FailureReason: Sendable, Equatable {
    /// The only service that uses the code.
    package let service: PushService
    /// Apple's `reason`, Google's `errorCode`, Expo's `error` or `code`.
    package let word: String
    /// The HTTP status; 200 for an error of one of Expo's tickets.
    package let status: Int

    /// Every code that a rule may answer with. Each belongs to one service.
    package static let all: [FailureReason] = PushService.allCases.flatMap { service in
        words(of: service).flatMap { status, words in
            words.map { FailureReason(service: service, word: $0, status: status) }
        }
    }

    /// The statuses for which every service has a code.
    package static let generalStatuses = [429, 500, 503]

    /// Codes of different services differ, so one key suffices.
    private static let byWord = Dictionary(all.map { ($0.word, $0) }) { first, _ in first }

    /// Nil for an unknown code.
    package static func named(_ word: String) -> FailureReason? { byWord[word] }

    /// The code of a service for one of the ``generalStatuses``; nil for another status.
    package static func general(_ status: Int, of service: PushService) -> FailureReason? {
        guard generalStatuses.contains(status) else { return nil }
        return all.first { $0.service == service && $0.status == status }
    }

    /// The first code of a status is the one that ``general(_:of:)`` returns.
    private static func words(of service: PushService) -> [(status: Int, words: [String])] {
        switch service {
        case .apns:
            [
                (
                    400,
                    [
                        "BadCollapseId", "BadDeviceToken", "BadExpirationDate", "BadMessageId", "BadPriority",
                        "BadTopic",
                        "DeviceTokenNotForTopic", "DuplicateHeaders", "IdleTimeout", "InvalidPushType",
                        "MissingDeviceToken", "MissingTopic", "PayloadEmpty", "TopicDisallowed",
                        // Of broadcasts and channels.
                        "BadChannelId", "BadRequestParams", "BadRequestPayload", "CannotCreateChannelConfig",
                        "ChannelNotRegistered", "FeatureNotEnabled", "MissingChannelId", "MissingChannelQueueSize",
                        "MissingPushType",
                    ]
                ),
                (
                    403,
                    [
                        "BadCertificate", "BadCertificateEnvironment", "BadEnvironmentKeyIdInToken",
                        "ExpiredProviderToken", "Forbidden", "InvalidProviderToken", "MissingProviderToken",
                        "UnrelatedKeyIdInToken", "TopicMismatch",
                    ]
                ),
                (404, ["BadPath"]), (405, ["MethodNotAllowed"]), (410, ["Unregistered", "ExpiredToken"]),
                (413, ["PayloadTooLarge"]), (429, ["TooManyRequests", "TooManyProviderTokenUpdates"]),
                (500, ["InternalServerError"]), (503, ["ServiceUnavailable", "Shutdown"]),
            ]
        case .fcm:
            [
                (400, ["INVALID_ARGUMENT"]), (401, ["THIRD_PARTY_AUTH_ERROR"]), (403, ["SENDER_ID_MISMATCH"]),
                (404, ["UNREGISTERED"]), (429, ["QUOTA_EXCEEDED"]), (500, ["INTERNAL"]), (503, ["UNAVAILABLE"]),
            ]
        case .expo:
            [
                (
                    200,
                    [
                        "DeviceNotRegistered", "MessageTooBig", "MessageRateExceeded", "MismatchSenderId",
                        "InvalidCredentials",
                    ]
                ),
                (429, ["TOO_MANY_REQUESTS"]), (500, ["INTERNAL_SERVER_ERROR"]), (503, ["SERVICE_UNAVAILABLE"]),
            ]
        }
    }
}
