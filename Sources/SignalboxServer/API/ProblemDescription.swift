/// An error code of the HTTP API, as docs/reference/errors.md lists it. Codes are stable; a test compares this list
/// with the codes in the sources.
package struct ProblemDescription: Sendable {
    /// The member `code` of the problem.
    package let code: String
    /// The status of the response that carries it.
    package let status: Int
    /// The cause, and the remedy for the client or operator: a sentence or two each, in Markdown.
    package let meaning, remedy: String

    /// The lists below contain all values, so a code is never made elsewhere.
    private init(_ code: String, _ status: Int, _ meaning: String, _ remedy: String) {
        (self.code, self.status, self.meaning, self.remedy) = (code, status, meaning, remedy)
    }

    /// Codes of a payload. `normalize` and `replay` report these too. The statuses apply to a request with one
    /// payload; in a batch they are those of the item.
    package static let payloads = [
        Self("payload-empty", 400, "The body is empty.", "Send a JSON object."),
        Self("payload-not-json", 400, "The payload is not valid JSON.", "Correct it at the position in `detail`."),
        Self("payload-truncated", 400, "The payload or its array ends too early.", "Send the whole text."),
        Self("payload-not-utf8", 400, "The payload is not valid UTF-8.", "Encode it as UTF-8."),
        Self(
            "payload-number-invalid", 400, "A number is malformed or does not fit into 64 bits.",
            "Send it as a string."),
        Self("payload-too-deep", 400, "The payload nests deeper than 128 levels.", "Flatten it."),
        Self("payload-not-an-object", 400, "The payload is JSON, but not an object.", "Send an object."),
        Self("payload-too-large", 413, "The payload exceeds 4 MiB, or its event is too large.", "Send less."),
        Self(
            "payload-too-costly", 422,
            "Evaluating the routes for this event exceeds the work limit; the event was not stored.",
            "Shorten its arrays and strings. Operators: use fewer wildcards on fields that senders control."),
    ]

    /// Every other code. In the order of the reference page.
    package static let requests = [
        Self(
            "batch-too-large", 413,
            "More than 10,000 payloads, 100,000 deliveries, 1,000 interactions or 16 MiB of events.",
            "Split the batch."),
        Self("body-too-large", 413, "The body exceeds the limit of its endpoint, at most 8 MiB.", "Split the batch."),
        Self("body-incomplete", 400, "The connection closed before the whole body arrived.", "Send the request again."),
        Self(
            "body-too-slow", 408, "The body arrived more slowly than 32 KiB a second.",
            "Send it faster, or in smaller requests."),
        Self(
            "body-unexpected", 400, "The request has a body that this endpoint does not accept; nothing changed.",
            "See `detail` and `pointer`; without a `pointer`, use query parameters."),
        Self("content-encoding-unsupported", 415, "The body is compressed.", "Send it without `content-encoding`."),
        Self(
            "unauthorized", 401, "The token is missing, wrong, or belongs to another source.",
            "Send the token of the source, or an admin token for operator endpoints."),
        Self(
            "not-from-this-machine", 403,
            "The config has no `sources`, and the request names another host or comes from another site's page.",
            "Configure sources with tokens, or use `http://127.0.0.1`."),
        Self(
            "forwarded-without-sources", 403,
            "The config has no `sources`, and a proxy forwarded the request (`forwarded`, `via`, `x-forwarded-for` or `x-real-ip`).",
            "Configure sources with tokens, and an admin token for operators."),
        Self(
            "source-forbidden", 403, "The token is valid, and `may` of its source does not have this right.",
            "Use the token of another source, or add the right that `detail` names."),
        Self(
            "host-foreign", 403, "A browser's request, or one for the console, names another host.",
            "Open a loopback address, or set `gateway.publicUrl` to the address that operators open."),
        Self(
            "origin-foreign", 403,
            "A change that a browser sent for a page of another site, or not as `application/json`; nothing changed.",
            "Use the console, or a client that is not a browser."),
        Self(
            "role-insufficient", 403, "The role of the token does not include this request; nothing changed.",
            "Use a token with the role that `detail` names."),
        Self(
            "content-hidden", 403, "The token has `\"content\": false`, and the request would reveal content.",
            "Use a token that may read content."),
        Self(
            "admin-closed", 403,
            "Operator endpoints are closed: the config has no admin token, and the gateway is not loopback-only.",
            "Configure `admin.auth.bearer`."),
        Self("idempotency-key-malformed", 400, "The key is not 1 to 255 printable ASCII characters.", "Use a UUID."),
        Self("idempotency-key-reused", 422, "An earlier request used the key with another body.", "Use a new key."),
        Self("interaction-malformed", 422, "The report lacks a member or has an invalid one.", "See `detail`."),
        Self(
            "event-not-found", 404, "No stored event has this id.",
            "List events with `GET /v1/events`. Report taps while the event is retained; see `retention`."),
        Self(
            "payload-gone", 410, "The payload of the event was not kept.",
            "Set `console.keepPayloads` for later events."),
        Self(
            "pattern-invalid", 400,
            "An event pattern has a mistake. `line` and `column`, if present, are those of the pattern in the request.",
            "Correct it at `pointer`; see `detail`."),
        Self("event-not-a-notification", 422, "The event is not a notification.", "Report the notification's event."),
        Self("action-not-found", 422, "The notification has no such button.", "Use an identifier from `detail`."),
        Self("category-not-found", 404, "No category has this identifier.", "List them with `GET /v1/categories`."),
        Self(
            "inapp-malformed", 400, "A message or a request about in-app messages has a mistake.",
            "Correct the value at `pointer`; see `detail`."),
        Self(
            "inapp-explain-forbidden", 403, "A source's token asks for the explanation of an in-app decision.",
            "Set `sources.NAME.explain`, or ask `POST /v1/inapp/explain` with an admin token."),
        Self(
            "inapp-device-forbidden", 403, "A request about a device that uses another source.",
            "Give devices of different apps different ids. To move an app, give its source a further token."),
        Self("inapp-too-large", 413, "A message, or a part of it, is too large.", "Shorten the value at `pointer`."),
        Self(
            "inapp-limit-unknown", 422, "The config has no limit with this name that the request can use.",
            "Use a name of `inapp.limits`, or add the limit. A message can only name limits of the owner `named`."),
        Self(
            "inapp-group-unknown", 422, "The config has no control group with this name for messages of this vendor.",
            "Use a name of `inapp.controlGroups`, or add the group. Its `coverage` must include the message."),
        Self("message-not-found", 404, "No in-app message has this id.", "List them with `GET /v1/inapp/messages`."),
        Self(
            "offer-not-found", 404, "The device has no such offer, or it is no longer kept.",
            "Report the offer of an answer, with its own `device`."),
        Self(
            "outcome-contradicts", 409,
            "The report contradicts an accepted one. `state` stays; `reason` names the rule, `ended` how it ended.",
            "Drop the report."),
        Self("delivery-not-found", 404, "No delivery has this number.", "List them with `GET /v1/deliveries`."),
        Self(
            "delivery-awaits-media", 409, "The delivery waits for its media files.",
            "Wait: it is sent when they have arrived or the wait is over."),
        Self("reason-required", 400, "A purge has no reason; nothing was removed.", "Send `reason`."),
        Self(
            "confirm-expired", 409,
            "The confirmation of a bulk change is older than 5 minutes, or of another store; nothing changed.",
            "Preview the change again."),
        Self(
            "confirm-mismatch", 409, "The confirmation is of another filter or another change; nothing changed.",
            "Send the filter of the preview, or preview again."),
        Self("delivery-ended", 409, "The delivery was delivered or has expired.", "Retry dead or waiting ones only."),
        Self(
            "destination-not-found", 404, "Neither the config nor the queue has such a destination.",
            "List them with `GET /v1/destinations`."),
        Self(
            "failure-malformed", 400, "A failure rule has a mistake; no rule was changed.",
            "Correct the value at `pointer`; see `detail`."),
        Self(
            "failure-not-found", 404, "The API has no failure rule of this name.",
            "List them with `GET /v1/failures`. Rules of the config are changed there."),
        Self("failures-full", 409, "The API has 1,000 failure rules.", "Delete some."),
        Self(
            "config-unreadable", 409, "The files in `routes.d` cannot be read.",
            "See `detail`; correct their permissions."),
        Self(
            "config-check-busy", 503, "Another check of a config is in progress, or a file does not answer.",
            "Retry after `retry-after` seconds."),
        Self("media-not-found", 404, "No stored file has this digest.", "Use the `href` of an event."),
        Self(
            "media-link-unsigned", 403, "Media links are signed here, and this one has no signature.",
            "Use the `href` of an event, with its query."),
        Self("media-link-wrong", 403, "The signature is not valid for this link.", "Use the `href` of an event."),
        Self(
            "media-link-expired", 403, "The signed link has expired.",
            "Use the new `href` in `GET /v1/events/ID`, or raise `media.signedUrls.expiry`."),
        Self("media-not-matched", 412, "`if-match` does not have the file's `etag`.", "Leave the header out."),
        Self("range-not-satisfiable", 416, "The file is shorter than the range.", "See `content-range`."),
        Self(
            "capture-timeout", 408,
            "The wait ended before enough pushes came. `captures` has those that came, `nearMisses` the newest others, "
                + "each with the first condition that it does not meet.",
            "Read `nearMisses`; wait longer by `timeout`."),
        Self(
            "capture-body-malformed", 400, "The body of a search or a wait has a mistake.",
            "Correct the value at `pointer`; see `detail`."),
        Self(
            "reads-busy", 503, "Too many requests compute over payloads: explanations, trials and searches.",
            "Repeat it after `retry-after`."),
        Self("too-many-streams", 503, "Eight streams are open.", "Close another one, or repeat after `retry-after`."),
        Self("streams-closed", 503, "The gateway is stopping.", "Connect again after `retry-after`."),
        Self("captures-off", 409, "The config keeps no captures.", "Set `gateway.captures.count` to more than 0."),
        Self(
            "captures-busy", 503, "256 waits are in progress, or their captures take 64 MiB.",
            "Wait again later, for fewer captures."),
        Self(
            "captures-stopping", 503, "The gateway is stopping, or the client ended its side of the connection.",
            "Wait again, on a connection that stays open."),
        Self("query-malformed", 400, "A query parameter has an invalid value.", "See `detail`."),
        Self(
            "parameter-unknown", 400, "The endpoint has no such query parameter; nothing changed.",
            "Use the name that `detail` suggests."),
        Self("parameter-repeated", 400, "A query parameter occurs twice; nothing changed.", "Send it once."),
        Self("not-found", 404, "No such endpoint.", "Check the path."),
        Self("method-not-allowed", 405, "The endpoint does not support this method.", "Use one listed in `allow`."),
        Self(
            "host-invalid", 400, "HTTP/1.1 without exactly one valid `Host` field; the connection is closed.",
            "Send one `Host` field (RFC 9112, section 3.2)."),
        Self(
            "target-invalid", 400,
            "The request target is neither a path nor an `http` or `https` URL; the connection is closed.",
            "Correct the client."),
        Self(
            "framing-ambiguous", 400,
            "`transfer-encoding` in HTTP/1.0 or together with `content-length`, one of the two repeated or malformed, "
                + "a coding after `chunked`, or a field whose line ends without CR; the connection is closed.",
            "Send one of them, and end each line with CR LF."),
        Self(
            "expectation-unsupported", 417, "An `expect` other than `100-continue`; the connection is closed.",
            "Leave the field out."),
        Self(
            "transfer-coding-unsupported", 501,
            "One `transfer-encoding` other than `chunked`, such as `gzip, chunked`; the connection is closed.",
            "Send the body unencoded or `chunked`."),
        Self(
            "request-refused", 400, "The HTTP layer rejected the request; the status may be another 4xx.",
            "Check path and headers."),
        Self("gateway-busy", 503, "All request-body memory is in use.", "Retry after `retry-after` seconds."),
        Self(
            "queue-unavailable", 503, "The queue cannot be written; nothing was accepted.",
            "Retry later. Operators: see [troubleshooting](../troubleshooting.md)."),
        Self(
            "queue-timeout", 503, "The commit was not confirmed within 15 s; it may still succeed.",
            "Retry later, with the same `idempotency-key` to avoid duplicates."),
        Self("internal-error", 500, "A bug in the gateway.", "Read the gateway's log and report it."),
    ]
}
