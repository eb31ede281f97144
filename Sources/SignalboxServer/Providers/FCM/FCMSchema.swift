/// The request of `projects.messages.send` (firebase.google.com/docs/reference/fcm/rest/v1/projects.messages).
enum FCMSchema {
    /// The whole request.
    static let request = ProtoMessage(
        fcm + "SendMessageRequest", ["validate_only": .bool, "message": .message(message)])

    /// Fields that name the addressee. A message must have exactly one of them.
    static let targets = ["token", "topic", "condition", "fid"]

    /// The package of the types, which error texts name.
    private static let fcm = "google.firebase.fcm.v1."

    private static let message = ProtoMessage(
        fcm + "Message", oneOf: ("target", targets),
        [
            "name": .string, "token": .string, "topic": .string, "condition": .string, "fid": .string,
            "data": .map(fcm + "Message.DataEntry"), "notification": .message(notification),
            "android": .message(android), "android_v2": .message(androidV2), "webpush": .message(webpush),
            "apns": .message(apns),
            "fcm_options": .message(ProtoMessage(fcm + "FcmOptions", ["analytics_label": .string])),
        ])

    /// The template for all platforms.
    private static let notification = ProtoMessage(
        fcm + "Notification", ["title": .string, "body": .string, "image": .string])

    /// Options for Android.
    private static let android = ProtoMessage(
        fcm + "AndroidConfig",
        [
            "collapse_key": .string,
            "priority": .enumeration(fcm + "AndroidMessagePriority", ["NORMAL", "HIGH"]),
            "ttl": .duration, "restricted_package_name": .string, "data": .map(fcm + "AndroidConfig.DataEntry"),
            "notification": .message(androidNotification), "direct_boot_ok": .bool, "bandwidth_constrained_ok": .bool,
            "restricted_satellite_ok": .bool,
            "fcm_options": .message(ProtoMessage(fcm + "AndroidFcmOptions", ["analytics_label": .string])),
        ])

    /// Google's preview of the successor of ``android`` (firebase.google.com, "Migrate from FCM HTTP v1 API to
    /// AndroidConfigV2"). The fields are those of firebase-admin-java.
    private static let androidV2 = ProtoMessage(
        fcm + "AndroidConfigV2",
        [
            "collapse_key": .string, "ttl": .duration, "restricted_package_name": .string,
            "data": .map(fcm + "AndroidConfigV2.DataEntry"), "direct_boot_ok": .bool,
            "bandwidth_constrained_ok": .bool, "restricted_satellite_ok": .bool,
            "remote_notification": .message(
                ProtoMessage(
                    fcm + "AndroidRemoteNotification",
                    [
                        "mutable_content": .bool, "use_as_v1_data_message": .bool,
                        "notification": .message(
                            ProtoMessage(
                                fcm + "AndroidNotificationV2",
                                androidNotificationFields.merging(["id": .int32]) { first, _ in first })),
                    ])),
            "background_sync": .message(ProtoMessage(fcm + "AndroidBackgroundSyncMessage", [:])),
            "fcm_options": .message(ProtoMessage(fcm + "AndroidFcmOptions", ["analytics_label": .string])),
        ])

    /// Overrides the template on Android. Colours and names of sounds are only checked to be strings.
    private static let androidNotification = ProtoMessage(fcm + "AndroidNotification", androidNotificationFields)

    private static let androidNotificationFields: [String: ProtoType] = [
        "title": .string, "body": .string, "icon": .string, "color": .string, "sound": .string, "tag": .string,
        "click_action": .string, "body_loc_key": .string, "body_loc_args": .repeated(.string),
        "title_loc_key": .string, "title_loc_args": .repeated(.string), "channel_id": .string, "ticker": .string,
        "sticky": .bool, "event_time": .timestamp, "local_only": .bool,
        "notification_priority": .enumeration(
            fcm + "AndroidNotification.NotificationPriority",
            [
                "PRIORITY_UNSPECIFIED", "PRIORITY_MIN", "PRIORITY_LOW", "PRIORITY_DEFAULT", "PRIORITY_HIGH",
                "PRIORITY_MAX",
            ]),
        "default_sound": .bool, "default_vibrate_timings": .bool, "default_light_settings": .bool,
        "vibrate_timings": .repeated(.duration),
        "visibility": .enumeration(
            fcm + "AndroidNotification.Visibility", ["VISIBILITY_UNSPECIFIED", "PRIVATE", "PUBLIC", "SECRET"]),
        "notification_count": .int32, "light_settings": .message(lightSettings), "image": .string,
        "bypass_proxy_notification": .bool,
        "proxy": .enumeration(fcm + "Proxy", ["PROXY_UNSPECIFIED", "ALLOW", "DENY", "IF_PRIORITY_LOWERED"]),
    ]

    /// The colour and the blinking of a device's LED.
    private static let lightSettings = ProtoMessage(
        fcm + "LightSettings",
        [
            "color": .message(
                ProtoMessage(
                    "google.type.Color", ["red": .double, "green": .double, "blue": .double, "alpha": .double])),
            "light_on_duration": .duration, "light_off_duration": .duration,
        ])

    /// `notification` is any object, because its members are those of the browser's Notification API.
    private static let webpush = ProtoMessage(
        fcm + "WebpushConfig",
        [
            "headers": .map(fcm + "WebpushConfig.HeadersEntry"), "data": .map(fcm + "WebpushConfig.DataEntry"),
            "notification": .structure,
            "fcm_options": .message(
                ProtoMessage(fcm + "WebpushFcmOptions", ["link": .string, "analytics_label": .string])),
        ])

    /// `payload` is any object, because Apple defines it.
    private static let apns = ProtoMessage(
        fcm + "ApnsConfig",
        [
            "headers": .map(fcm + "ApnsConfig.HeadersEntry"), "payload": .structure, "live_activity_token": .string,
            "fcm_options": .message(
                ProtoMessage(fcm + "ApnsFcmOptions", ["analytics_label": .string, "image": .string])),
        ])
}
