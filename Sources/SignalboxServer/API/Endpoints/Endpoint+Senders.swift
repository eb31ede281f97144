import SignalboxConfig

/// For senders, devices and the console.
extension Endpoint {
    /// Clients revalidate a file by its tag; `cache-control` depends on the path.
    private static let file: [AnswerField] = [.etag, .cacheControl]
    /// Fields that connect a request with the sender's trace (W3C Trace Context).
    private static let trace: [RequestField] = [.traceparent, .tracestate]
    /// Codes of requests that fail as a whole. Items of a 207 have codes of their own.
    private static let batch = queue + payload + ["batch-too-large"]
    /// Only payloads have idempotency keys.
    private static let notifications: [String] = batch + ["idempotency-key-malformed", "idempotency-key-reused"]
    /// Codes of requests that devices make through their app's server.
    private static let device = queue + ["inapp-malformed", "inapp-too-large", "inapp-device-forbidden"]
    /// `not-found` for an id whose percent escapes are not valid.
    private static let message = queue + ["not-found"]

    /// The console. Its files have no data, so they need no token.
    static let console: [Endpoint] = [
        Endpoint(
            "GET", "/", .none, "Serves the console.",
            .init(
                "getConsole", fields: [.ifNoneMatch], .init(status: 200, content: [.bytes("text/html")], fields: file),
                .notModified, problems: ["host-foreign"])
        ) { try ConsoleFile.page($1, $0.surface.browsers) },
        Endpoint(
            "GET", "/console/{file}", .none, "Serves a file of the console.",
            .init(
                "getConsoleFile", fields: [.ifNoneMatch], .init(status: 200, content: [.bytes("*/*")], fields: file),
                .notModified, problems: ["host-foreign", "not-found"])
        ) { try ConsoleFile.file($1, $0.surface.browsers) },
        Endpoint(
            "GET", "/assets/{version}/{file}", .none, "Serves the same file, by its version, for caches.",
            .init(
                "getConsoleFileOfVersion", fields: [.ifNoneMatch],
                .init(status: 200, content: [.bytes("*/*")], fields: file), .notModified,
                problems: ["host-foreign", "not-found"])
        ) { try ConsoleFile.versioned($1, $0.surface.browsers) },
    ]

    /// Of senders: payloads, taps and devices.
    static let senders: [Endpoint] = [
        Endpoint(
            "POST", "/v1/notifications", .source(.notifications), "Accepts payloads for the source of the token.",
            .init(
                "acceptPayloads", body: [.json("Payloads"), .lines], fields: [.idempotencyKey] + trace,
                .json("PayloadAnswer", status: 202, fields: [.idempotencyReplayed]),
                .json("PayloadReport", status: 207, fields: [.idempotencyReplayed]), problems: notifications),
            head: { _ = try NotificationsAPI.idempotencyKey(of: $1) }
        ) { try await $0.notifications.accept($2, of: $1) },
        Endpoint(
            "POST", "/v1/sources/{source}/notifications", .source(.notifications),
            "Accepts payloads for the named source.",
            .init(
                "acceptPayloadsOfSource", body: [.json("Payloads"), .lines], fields: [.idempotencyKey] + trace,
                .json("PayloadAnswer", status: 202, fields: [.idempotencyReplayed]),
                .json("PayloadReport", status: 207, fields: [.idempotencyReplayed]), problems: notifications),
            head: { _ = try NotificationsAPI.idempotencyKey(of: $1) }
        ) { try await $0.notifications.accept($2, of: $1) },
        Endpoint(
            "POST", "/v1/interactions", .source(.interactions), "Accepts reports of taps.",
            .init(
                "acceptInteractions", body: [.json("Interactions"), .lines], fields: trace,
                .json("InteractionAnswer", status: 202), .json("InteractionReport", status: 207),
                problems: batch + [
                    "interaction-malformed", "event-not-found", "event-not-a-notification", "action-not-found",
                ])
        ) { try await $0.acceptInteractions($1, $2) },
        Endpoint(
            "POST", "/v1/inapp/triggers", .source(.inapp), "Decides which in-app message a device shows now.",
            .init(
                "triggerInApp", body: [.json("InAppTrigger")], .json("InAppAnswer"),
                problems: device + ["inapp-explain-forbidden"]),
            bodyLimit: InAppAPI.requestLimit
        ) { try await $0.inApp.trigger($1, $2) },
        Endpoint(
            "POST", "/v1/inapp/slots", .source(.inapp), "Fills the slots of a page with inline messages.",
            .init(
                "fillInAppSlots", body: [.json("InAppPage")], .json("InAppPageAnswer"),
                problems: device + ["inapp-explain-forbidden"]),
            bodyLimit: InAppAPI.requestLimit
        ) { try await $0.inApp.place($1, $2) },
        Endpoint(
            "POST", "/v1/inapp/offers/{id}/outcome", .source(.inapp), "Accepts a report about an offered message.",
            .init(
                "reportInAppOutcome", body: [.json("InAppOutcome")], .json("InAppOutcomeAnswer"),
                problems: device + ["offer-not-found", "outcome-contradicts"]),
            bodyLimit: InAppAPI.requestLimit
        ) { try await $0.inApp.report($1, $2) },
    ]

    /// In-app messages.
    static let inAppMessages: [Endpoint] = [
        Endpoint(
            "POST", "/v1/inapp/explain", .reader,
            "Explains what a trigger would bring, at another time or with other counters; stores nothing.",
            .init(
                "explainInApp", body: [.json("InAppQuestion")], .json("InAppExplanation"),
                problems: queue + ["inapp-malformed", "inapp-too-large", "inapp-limit-unknown", "content-hidden"]),
            bodyLimit: InAppAPI.requestLimit, work: .heavy
        ) { try await $0.inApp.explain($1, $2) },
        Endpoint(
            "GET", "/v1/inapp/messages", .reader, "Lists in-app messages by id.",
            .init("listInAppMessages", .json("InAppMessageList"), problems: queue),
            parameters: [.withdrawn, .limit, .cursor]
        ) { try await $0.inApp.list($1) },
        Endpoint(
            "GET", "/v1/inapp/messages/{id}", .reader, "Returns one in-app message.",
            .init(
                "getInAppMessage", .json("InAppMessage"), problems: message + ["message-not-found", "inapp-malformed"])
        ) { try await $0.inApp.show($1) },
        Endpoint(
            "PUT", "/v1/inapp/messages/{id}", .operator, "Registers an in-app message, or changes it.",
            .init(
                "putInAppMessage", body: [.json("InAppMessageForm")], .json("InAppMessageState"),
                .json("InAppMessageState", status: 201),
                problems: message + [
                    "inapp-malformed", "inapp-too-large", "inapp-limit-unknown", "inapp-group-unknown",
                ]),
            bodyLimit: InAppAPI.messageLimit, changes: .stored("inapp.register"),
            head: { _ = try $0.inApp.messageID(of: $1) }
        ) { try await $0.inApp.register($1, $2) },
        Endpoint(
            "DELETE", "/v1/inapp/messages/{id}", .operator, "Withdraws an in-app message: no new offers.",
            .init(
                "withdrawInAppMessage", .json("InAppMessageState"),
                problems: message + ["message-not-found", "inapp-malformed"]),
            changes: .stored("inapp.withdraw")
        ) { try await $0.inApp.withdraw($1) },
    ]
}
