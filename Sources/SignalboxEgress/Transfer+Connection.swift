internal import CCurl
import Foundation

/// The connections that libcurl chooses for a transfer.
extension Transfer {
    /// The last time that libcurl began to send the request.
    struct Start {
        /// Connections that were opened for the request until then.
        let connects: Int
        let connection: OpenSockets.Ends
        let isHTTP2: Bool
    }

    /// Why a request was not sent on a connection.
    enum Rejection: Equatable {
        /// The idle connection had unread bytes, or was closed.
        case leftovers
        /// The server may have the request from an earlier connection. With the reason why that one ended.
        case repetition(String)
    }

    /// libcurl calls this before each request on a connection. Aborting closes an HTTP/1 connection.
    static let onReady: curl_prereq_callback = { context, remote, _, remotePort, localPort in
        guard let transfer = of(context), let remote else { return CURL_PREREQFUNC_OK }
        let connection = OpenSockets.Ends(
            remote: String(cString: remote), remotePort: remotePort, localPort: localPort)
        return transfer.mayBegin(on: connection) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
    }

    /// Rejects a reused connection with unread bytes: they would pass for the response to this request (RFC 9112,
    /// 6.3), and libcurl does not notice them. Costs one system call for a reused connection. Rejects any connection
    /// for a request that the server may have already.
    private func mayBegin(on connection: OpenSockets.Ends) -> Bool {
        guard let handle else { return true }
        if let start, !mayRepeat(after: start, on: handle) {
            let detail = errorDetail
            rejection = .repetition(detail.isEmpty ? "the server closed the connection without a response" : detail)
            return false
        }
        let ssl = sb_curl_get_ssl(handle)
        closeNotice = request.sink == nil ? nil : ssl.map { CloseNotice.of($0) }
        let connects = Self.number(CURLINFO_NUM_CONNECTS, of: handle)
        if connects > start?.connects ?? 0 {
            sockets.record(opened, as: connection)
        } else if rejection == nil, sockets.hasLeftovers(on: connection, ssl: ssl) {
            rejection = .leftovers
            return false
        }
        start = Start(connects: connects, connection: connection, isHTTP2: OpenSockets.speaksHTTP2(ssl))
        return true
    }

    /// Whether libcurl may send the request again (RFC 9110, 9.2.2). When a reused connection ends without a byte of
    /// a response, libcurl does so without asking whether the server has the request (`Curl_retry_request`).
    private func mayRepeat(after start: Start, on handle: UnsafeMutableRawPointer) -> Bool {
        if request.method != .post { return true }
        // The connection had ended before a byte of the request was sent.
        if Self.number(CURLINFO_REQUEST_SIZE, of: handle) == 0 { return true }
        // Without a response and an error text, the server refused the stream or left it out of its GOAWAY: it did not
        // process the request (RFC 9113, 8.7). With HTTP_1_1_REQUIRED, libcurl repeats it over HTTP/1.1.
        let detail = errorDetail
        return start.isHTTP2 && headerBytes == 0 && (detail.isEmpty || detail.contains("HTTP_1_1_REQUIRED"))
    }

    /// True when the request has to be sent again over a new connection: it was not sent.
    func needsRepeat(_ code: CURLcode) -> Bool { code == CURLE_ABORTED_BY_CALLBACK && rejection == .leftovers }

    /// Whether a socket was opened for the request, which has not begun. True also during a TLS handshake.
    var isConnecting: Bool { start == nil && !opened.isEmpty }

    /// Records a response on an HTTP/2 connection. True if the result shows that the connection seems dead: nothing
    /// arrived on it between the request and its timeout. libcurl closes HTTP/1 connections itself.
    func hasFoundSilence(_ result: OutboundResult) -> Bool {
        guard let start, start.isHTTP2 else { return false }
        switch result.answer {
        case .success:
            sockets.recordReply(on: start.connection)
            return false
        case .failure(.timeoutReplying):
            return headerBytes == 0 && !sockets.hasReplied(on: start.connection, since: begun)
        case .failure: return false
        }
    }
}
