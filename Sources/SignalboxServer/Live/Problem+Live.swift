import HTTPTypes

// Rejected requests about the live view.
extension Problem {
    /// Readers try again: another one may have left.
    static let tooManyStreams = Problem(
        .serviceUnavailable, "too-many-streams", title: "The stream was not opened",
        "\(LiveStreams.most) streams are open: close another one, or try again later.", headers: [.retryAfter: "5"])
    /// During a stop. Sent to requests only; open streams end as whole responses.
    static let streamsClosed = Problem(
        .serviceUnavailable, "streams-closed", title: "The stream was not opened",
        "The gateway is stopping: connect again after the restart.", headers: [.retryAfter: "5"])

    /// `pointer`: the location of the mistake in the pattern.
    static func pattern(_ detail: String, at pointer: String) -> Problem {
        Problem(.badRequest, "pattern-invalid", title: "The pattern is not valid", detail, pointer: pointer)
    }
}
