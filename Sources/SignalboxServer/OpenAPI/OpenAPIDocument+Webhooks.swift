import SignalboxConfig

/// The requests that the gateway sends to destinations.
extension OpenAPIDocument {
    /// One for each kind of event.
    static var webhooks: JSONNode {
        .object(
            [
                ("notificationReceived", "NotificationEvent", "A push notification was accepted."),
                ("interactionReceived", "InteractionEvent", "A tap on a notification or a button was reported."),
                ("inAppDecided", "InAppEvent", "An in-app message was offered, shown, clicked or ended."),
                ("pushAnswered", "PushEvent", "A push service answered a forwarded push."),
                ("deliveryDead", "DeliveryDeadEvent", "A delivery was moved to the dead letters."),
                ("ping", "PingEvent", "A test event, sent by an operator."),
            ].map { name, schema, purpose in
                JSONNode.Member(key: name, value: ["post": webhook(name, schema, purpose)])
            })
    }

    /// Describes the answers of a receiver that the gateway tells apart. The receiver verifies a signature instead of a
    /// token, so `security` is empty.
    private static func webhook(_ name: String, _ schema: String, _ purpose: String) -> JSONNode {
        let event = reference(to: schema)
        return [
            "operationId": .string(name), "summary": .string(purpose), "description": .string(formats),
            "security": [], "parameters": .array(headerFields),
            "requestBody": [
                "required": true,
                "content": [
                    "application/cloudevents+json": ["schema": event],
                    "application/cloudevents-batch+json": ["schema": ["type": "array", "minItems": 1, "items": event]],
                    "application/json": ["schema": reference(to: "StandardWebhook")],
                ],
            ],
            "responses": [
                "2XX": ["description": "The event was accepted."],
                "410": ["description": "The destination is disabled until an operator resumes it."],
                "4XX": ["description": "408, 425 and 429 are retried, after `retry-after`; others are permanent."],
                "5XX": ["description": "The delivery is retried, after `retry-after`."],
            ],
        ]
    }

    /// The description of each webhook: the three media types below are those of JSON formats only.
    private static let formats =
        "The media type depends on the destination's `format`: `cloudevents` (structured), `cloudevents-batch`, or "
        + "`standard-webhooks` in `application/json`. With `cloudevents-binary` the body is `data` and the attributes "
        + "are in `ce-` headers; with `raw` it is the payload, and with `template` the output of the template. A "
        + "route that redacts or transforms events removes `dataschema`, and may remove members."

    /// Fields of every attempt, after the Standard Webhooks specification. `traceparent` is the only optional one.
    private static let headerFields: [JSONNode] = [
        field("webhook-id", "The same in every attempt, and for every repeat of the event to this destination."),
        field("webhook-timestamp", "The time of the attempt, in seconds since 1970."),
        field("webhook-signature", "Signatures of the Standard Webhooks specification, separated by spaces."),
        field("traceparent", "The trace of the event (W3C Trace Context), if the destination receives it.", false),
    ]

    /// `purpose`: a description in CommonMark. Values of all fields are text.
    private static func field(_ name: String, _ purpose: String, _ isRequired: Bool = true) -> JSONNode {
        [
            "name": .string(name), "in": "header", "required": .bool(isRequired), "description": .string(purpose),
            "schema": ["type": "string"],
        ]
    }
}
