import HTTPTypes
import Hummingbird
import NIOCore

extension Request {
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
