import HTTPTypes
import Hummingbird
import NIOCore

extension Request {
    /// How long the body is going to be; the limit when the request does not say, or says more.
    func expectedLength(upTo limit: Int) -> Int {
        headers[.contentLength].flatMap { Int($0) }.map { min(max(0, $0), limit) } ?? limit
    }

    /// The body as it came, all of it or a problem.
    func wholeBody(upTo limit: Int) async throws(Problem) -> [UInt8] {
        if let encoding = headers[.contentEncoding], encoding.lowercased() != "identity" { throw .encodedBody }
        if let length = headers[.contentLength].flatMap({ Int($0) }), length > limit {
            throw .bodyTooLarge(limit: limit)
        }
        do {
            return Array(buffer: try await body.collect(upTo: limit))
        } catch is NIOTooManyBytesError {
            throw .bodyTooLarge(limit: limit)
        } catch {
            throw .unreadableBody
        }
    }
}
