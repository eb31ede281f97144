import HTTPTypes
import NIOCore
import NIOHTTPTypes
import SignalboxNotification
import SignalboxStore

/// A request that has arrived to its last byte, with a body that is small.
struct DirectRequest: Sendable, Equatable {
    let head: HTTPRequest
    let sender: DirectSender
    let body: ByteBuffer

    /// As it came, but for trailers, which it had none of.
    var parts: [HTTPRequestPart] {
        body.readableBytes > 0 ? [.head(head), .body(body), .end(nil)] : [.head(head), .end(nil)]
    }
}

/// For which source a request speaks, and by which config that was decided.
struct DirectSender: Sendable, Equatable {
    let source: SourceName
    /// Counts the configs.
    let config: Int
}

/// The whole of an answer, but for what says how long it is and when it was made.
struct DirectAnswer: Sendable, Equatable {
    let status: HTTPResponse.Status
    let headers: HTTPFields
    let body: [UInt8]

    init(_ answer: StoredAnswer) {
        status = HTTPResponse.Status(code: answer.status)
        headers = [.contentType: "application/json"]
        body = answer.body
    }

    init(_ problem: Problem) {
        (status, headers, body) = (problem.status, problem.responseHeaders, problem.body)
    }
}
