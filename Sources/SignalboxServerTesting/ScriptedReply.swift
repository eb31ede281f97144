package import Foundation

/// A reply as a server on loopback sends it, byte by byte. The mode `script` of ``Peer`` reads it as JSON.
package struct ScriptedReply: Encodable {
    /// The end of the connection after the reply.
    package enum End: String, Encodable { case close, reset }

    /// Status line and header fields, with the empty line at their end.
    package var head: String
    /// Sent after ``head``, once for each of ``times``.
    package var body: Data
    /// How often the body is sent; zero repeats without end.
    package var times = 1
    /// Nil keeps the connection open for the next request.
    package var end: End?
    /// Seconds after each body.
    package var gap = 0.0

    /// Defaults describe a reply without a body on a connection that stays open.
    package init(head: String, body: Data = Data(), times: Int = 1, end: End? = nil, gap: Double = 0) {
        self.head = head
        self.body = body
        self.times = times
        self.end = end
        self.gap = gap
    }

    /// A reply with this file; `length` replaces its true length.
    package static func file(
        _ bytes: [UInt8], _ headers: [String] = [], status: String = "200 OK", length: Int? = nil,
        end: End? = nil
    ) -> ScriptedReply {
        let headers = headers + ["content-length: \(length ?? bytes.count)"]
        return ScriptedReply(
            head: "HTTP/1.1 \(status)\r\n" + headers.map { $0 + "\r\n" }.joined() + "\r\n", body: Data(bytes), end: end)
    }

    /// `place`: the value of `location`, absolute or relative.
    package static func redirect(to place: String, _ headers: [String] = [], status: String = "302 Found")
        -> ScriptedReply
    {
        file([], ["location: \(place)"] + headers, status: status)
    }
}
