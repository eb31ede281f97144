import SignalboxJSON

extension GoogleError {
    static func encodingInvalid(limit: Int) -> GoogleError {
        GoogleError(
            status: .invalidArgument,
            message: "The content encoding is not gzip, or the content is damaged or larger than \(limit) bytes.")
    }

    /// The error in the form of an operation. Each form has the status, fields and delay. OAuth 2.0 has no effect on
    /// the connection.
    func reply(as form: FCMOperation.ErrorForm) -> ProviderReply {
        switch form {
        case .status: reply
        case .text:
            ProviderReply(
                status: status.code, headers: .json + headers,
                body: .json { $0.object { $0.member("error", message) } }, after: after, delay: delay)
        case .page:
            ProviderReply(
                status: status.code,
                headers: [.init(name: "content-type", value: "text/html; charset=UTF-8")] + headers,
                body: Array(page.utf8), after: after, delay: delay)
        case .grant:
            GrantError(
                status: status.code, code: status == .unavailable ? .temporarilyUnavailable : .invalidRequest,
                description: message, headers: headers, delay: delay
            ).reply
        }
    }

    /// Legacy responses to 401 and others are pages.
    private var page: String {
        let title = status == .unauthenticated ? "Unauthorized" : message
        return "<HTML>\n<HEAD>\n<TITLE>\(title)</TITLE>\n</HEAD>\n<BODY BGCOLOR=\"#FFFFFF\" TEXT=\"#000000\">\n"
            + "<H1>\(title)</H1>\n<H2>Error \(status.code)</H2>\n</BODY>\n</HTML>\n"
    }
}
