/// A table as a copy of a store moves it: the columns that the target has. The source makes them from its own tables.
package struct CopiedTable: Sendable {
    /// A column of the target.
    package struct Column: Sendable {
        /// The type of the values that the source returns, and their meaning.
        package enum Kind: Sendable {
            case number, text, bytes
            /// A text for which the target may store a digest: rows with equal keys are sent in their order.
            case orderKey
            /// 0 or 1.
            case flag
            /// The id of an event, as text.
            case eventID
            /// The id of an event from outside: rows with another text are left out, because no event can have it.
            case reference
            /// The SHA-256 digest of the bytes in the source.
            case digest
        }

        package let name: String
        package let kind: Kind

        static func number(_ name: String) -> Column { Column(name: name, kind: .number) }
        static func text(_ name: String) -> Column { Column(name: name, kind: .text) }
        static func bytes(_ name: String) -> Column { Column(name: name, kind: .bytes) }
        static func flag(_ name: String) -> Column { Column(name: name, kind: .flag) }
    }

    /// The name in the target.
    package let name: String
    package let columns: [Column]

    private init(_ name: String, _ columns: [Column]) { (self.name, self.columns) = (name, columns) }
}

/// The tables in the order of a copy: waiting deliveries last, so that nothing can be sent before the rest is there.
extension CopiedTable {
    package static let all = content + operators + media + inApp + [ended, attempts, ledger, queue]

    private static let content = [
        CopiedTable(
            "events",
            [
                .number("seq"), Column(name: "id", kind: .eventID), .text("source"), .text("subject"),
                .number("accepted_at"), .bytes("body"), .bytes("payload"),
            ]),
        CopiedTable("variants", [.number("id"), .number("event"), .bytes("body"), .flag("plain")]),
        CopiedTable(
            "requests",
            [.text("source"), .text("key"), .bytes("digest"), .bytes("answer"), .number("status"), .number("at")]),
        CopiedTable(
            "duplicates", [.text("source"), .text("key"), Column(name: "event", kind: .reference), .number("at")]),
    ]

    private static let operators = [
        CopiedTable("payloads", [.number("event"), .flag("lasts"), .bytes("payload")]),
        CopiedTable("reports", [Column(name: "about", kind: .reference), .number("event")]),
        CopiedTable(
            "actions",
            [
                .number("id"), .number("at"), .text("actor"), .text("role"), .text("remote"), .text("via"),
                .text("operation"), .text("target"), .text("parameters"), .number("count"), .text("reason"),
                .text("result"),
            ]),
        CopiedTable("categories", [.text("identifier"), .bytes("definition"), .number("last_seen")]),
        CopiedTable("channels", [.text("app"), .text("id"), .flag("stores_last"), .text("source")]),
        CopiedTable(
            "destinations",
            [
                .text("name"), .text("state"), .text("reason"), .number("since"), .number("until"),
                .text("withheld_reason"), .number("withheld_since"),
            ]),
    ]

    private static let media = [
        CopiedTable(
            "files",
            [
                .number("id"), .text("sha256"), .number("bytes"), .text("type"), .number("width"), .number("height"),
                .number("duration"), .number("kept_at"), .number("used_at"),
            ]),
        CopiedTable(
            "media",
            [
                .number("id"), .bytes("url"), Column(name: "digest", kind: .digest), .text("host"), .text("state"),
                .number("due"), .number("attempts"), .number("wanted_at"), .number("checked_at"),
                .number("fresh_until"), .text("etag"), .text("last_modified"), .text("sha256"), .text("reason"),
                .text("words"), .text("remarks"),
            ]),
        CopiedTable("event_files", [.number("file"), .number("event")]),
        CopiedTable("media_events", [.number("event"), .number("media"), .flag("done")]),
        CopiedTable(
            "media_waits", [.number("delivery"), .number("event"), .number("until"), .flag("ready"), .text("route")]),
    ]

    private static let inApp = [
        CopiedTable(
            "inapp_messages",
            [
                .text("id"), .number("revision"), .number("registered_at"), .number("withdrawn_at"),
                .number("ends_at"), .text("user_id"), .text("device_id"), .bytes("body"),
            ]),
        CopiedTable("inapp_tallies", [.text("message"), .number("committed"), .number("reserved")]),
        CopiedTable("inapp_users", [.text("id"), .number("last_now"), .number("seen"), .bytes("ledger")]),
        CopiedTable(
            "inapp_devices",
            [
                .text("id"), .text("user_id"), .number("last_now"), .number("last_seen"), .number("session"),
                .number("last_end"), .text("last_walkthrough"), .number("last_order"), .number("last_decision"),
                .number("next_due"), .number("seen"), .number("node"), .bytes("state"), .bytes("ledger"),
            ]),
        CopiedTable(
            "inapp_offers",
            [
                .text("id"), .text("device"), .text("user_id"), .text("message"), .number("revision"),
                .text("vendor"), .text("kind"), .text("state"), .number("triggered_at"), .number("due"),
                .number("lapse"), .number("flags"), .number("session"), .number("place"), .number("until"),
                .number("lease_until"), .number("unanswered"), .number("shown_at"), .number("ended_at"),
                .text("reason"), .number("clicks"), .text("slot"), .text("product"), .text("sku"), .text("page"),
                .bytes("lists"),
            ]),
        CopiedTable("inapp_kept", [.text("message"), .number("kind"), .text("owner")]),
    ]

    private static let attempt: [Column] = [
        .number("started_at"), .number("duration"), .number("status"), .text("error"), .text("reason"),
        .text("remote"), .bytes("excerpt"), .bytes("exchange"),
    ]
    private static let delivery: [Column] =
        [
            .number("id"), .number("event"), .text("destination"), .number("due"), .number("begun"),
            .number("attempts"), .number("forgiven"), .number("not_before"), .number("not_after"),
            Column(name: "order_key", kind: .orderKey),
            .number("variant"), .flag("manual"),
        ] + attempt
    private static let ended = CopiedTable("ended", delivery + [.text("state")])
    private static let queue = CopiedTable("queue", delivery)
    private static let attempts = CopiedTable("attempts", [.number("delivery"), .number("number")] + attempt)
    private static let ledger = CopiedTable(
        "ledger",
        [
            .text("destination"), .number("node"), .number("lane"), .number("accepted"), .number("delivered"),
            .number("dead"), .number("expired"), .number("waiting"), .number("undelivered_since"),
            .number("waiting_now"), .number("dead_now"), .number("delivered_now"), .number("expired_now"),
        ])
}
