import HTTPTypes
import SignalboxStore

// MARK: Deliveries, categories and media

/// Answers of the operator's endpoints, and of links to files.
extension Problem {
    /// For an unknown digest, and for a name that is not a digest.
    static let noMedia = Problem(
        .notFound, "media-not-found", title: "No such file",
        "The name of a file is the SHA-256 of its content, 64 lower-case hexadecimal digits. Events link to files.")
    /// For `if-match` (RFC 9110, 13.1.1).
    static let otherMedia = Problem(
        .preconditionFailed, "media-not-matched", title: "The file does not match",
        "The etag of the file is its quoted name, and if-match does not list it.")
    /// Sent before the file is looked up, so it does not tell whether the file exists.
    static let unsignedLink = Problem(
        .forbidden, "media-link-unsigned", title: "The link is not signed",
        "Files are served by signed links only: use the href of an event with its whole query.")
    /// The path, the expiry or the signature was changed, or the key of the gateway is another one.
    static let wrongLink = Problem(
        .forbidden, "media-link-wrong", title: "The signature is not valid",
        "The signature does not match this file and this time: use the href of an event unchanged.")
    /// The signature is valid, its time is over.
    static let expiredLink = Problem(
        .forbidden, "media-link-expired", title: "The link has expired",
        "The link was valid: GET /v1/events/ID has a new one for operators.")

    /// `bytes`: the size of the file, which the header `content-range` repeats (RFC 9110, 14.4).
    static func noSuchRange(of bytes: Int) -> Problem {
        Problem(
            .rangeNotSatisfiable, "range-not-satisfiable", title: "No such range",
            "The file has \(bytes) bytes: request some of them, or leave range out.",
            headers: [.contentRange: "bytes */\(bytes)"])
    }

    /// For a delivery that ``InspectionStore/retry(_:as:)`` does not requeue: it has ended, or waits for media.
    static func notRetried(_ record: DeliveryRecord) -> Problem {
        guard record.state == .waiting else {
            return Problem(
                .conflict, "delivery-ended", title: "No change was made",
                "Delivery \(record.id) was delivered or has expired: only dead and waiting deliveries can be retried.")
        }
        return Problem(
            .conflict, "delivery-awaits-media", title: "No change was made",
            "Delivery \(record.id) waits for its media files: it is sent when they have arrived or the wait is over.")
    }

    /// `id`: as the client sent it, which need not be a number.
    static func noDelivery(_ id: String) -> Problem { unknown("delivery-not-found", "delivery", id, in: "deliveries") }

    /// `name`: as the client sent it.
    static func noDestination(_ name: String) -> Problem {
        unknown("destination-not-found", "destination", name, in: "destinations")
    }

    /// `identifier`: decoded.
    static func noCategory(_ identifier: String) -> Problem {
        unknown("category-not-found", "category", identifier, in: "categories")
    }

    /// `list`: the last part of the path that lists them. `kind`: the word for one of them, for title and detail.
    /// `name`: as the client sent it.
    static func unknown(_ code: String, _ kind: String, _ name: String, in list: String) -> Problem {
        Problem(.notFound, code, title: "No such \(kind)", "No such \(kind): \(name). GET /v1/\(list) lists them.")
    }
}
