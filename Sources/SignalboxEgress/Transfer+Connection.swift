internal import CCurl
import Foundation

/// The connections that libcurl chooses for a transfer.
extension Transfer {
    /// libcurl calls this before each request on a connection. Aborting closes an HTTP/1 connection.
    static let onReady: curl_prereq_callback = { context, remote, _, remotePort, localPort in
        guard let transfer = of(context), let remote else { return CURL_PREREQFUNC_OK }
        let connection = OpenSockets.Ends(
            remote: String(cString: remote), remotePort: remotePort, localPort: localPort)
        return transfer.mayBegin(on: connection) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
    }

    /// Rejects a reused connection with unread bytes: they would pass for the response to this request (RFC 9112,
    /// 6.3), and libcurl does not notice them. Costs one system call for a reused connection.
    private func mayBegin(on connection: OpenSockets.Ends) -> Bool {
        guard let handle else { return true }
        if Self.number(CURLINFO_NUM_CONNECTS, of: handle) > 0 {
            sockets.record(opened, as: connection)
        } else if !metLeftovers, sockets.hasLeftovers(on: connection, ssl: sb_curl_get_ssl(handle)) {
            metLeftovers = true
            return false
        }
        return true
    }

    /// True when the request has to be sent again over a new connection: it was not sent.
    func needsRepeat(_ code: CURLcode) -> Bool { code == CURLE_ABORTED_BY_CALLBACK && metLeftovers }
}
