import Foundation
import HTTPTypes
import NIOCore

/// Answers small requests on the event loop of their connection. It must never block there.
///
/// A task for a request costs twice the processor time of accepting a small payload.
struct DirectResponder: Sendable {
    /// Accepts the body of one request. `done` is called once, later and on the event loop. Returns false when nothing
    /// was done and the router must answer.
    typealias BodyHandler =
        @Sendable (_ body: ByteBuffer, _ eventLoop: any EventLoop, _ done: @escaping @Sendable (Reply) -> Void) -> Bool

    /// Judges a request by its head; nil leaves the request to the router.
    let handler: @Sendable (PlainHead) -> BodyHandler?
}

/// A whole response. Both paths, the router and the direct one, send it, so equal requests receive equal responses.
struct Reply: Sendable, Equatable {
    /// The status of a final response, 200 or higher.
    let status: HTTPResponse.Status
    /// In addition to type, length and date.
    var headers: HTTPFields = [:]
    /// The whole field value, with parameters such as `charset`.
    var contentType = "application/json"
    /// Whole; a reply is never streamed.
    let body: [UInt8]

    /// The response as HTTP/1.1 sends it. `date`: the value of its Date field. Always has a Content-Length. Values of
    /// `headers` must not contain line ends.
    func bytes(date: String, allocator: ByteBufferAllocator) -> ByteBuffer {
        var buffer = allocator.buffer(capacity: 256 + body.count)
        if status == .accepted {
            buffer.writeStaticString("HTTP/1.1 202 Accepted\r\n")
        } else {
            buffer.writeString("HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n")
        }
        for field in headers { buffer.writeString("\(field.name.rawName): \(field.value)\r\n") }
        buffer.writeStaticString("Content-Type: ")
        buffer.writeString(contentType)
        buffer.writeStaticString("\r\nContent-Length: ")
        buffer.writeString(String(body.count))
        buffer.writeStaticString("\r\nDate: ")
        buffer.writeString(date)
        buffer.writeStaticString("\r\n\r\n")
        buffer.writeBytes(body)
        return buffer
    }
}

/// The time as HTTP writes it (RFC 9110, 5.6.7), formatted once a second. One per connection, used on its event loop.
struct HTTPDateText {
    /// The Unix time that ``text`` describes; -1 before the first call.
    private var second: time_t = -1
    private var text = ""

    /// For example `Sun, 06 Nov 1994 08:49:37 GMT`.
    mutating func text(at now: time_t) -> String {
        guard now != second else { return text }
        var (now, parts) = (now, tm())
        gmtime_r(&now, &parts)
        // The process keeps the C locale for times.
        text = String(unsafeUninitializedCapacity: 64) {
            strftime($0.baseAddress, $0.count, "%a, %d %b %Y %T GMT", &parts)
        }
        second = now
        return text
    }
}
