import HTTPTypes
import Hummingbird
import NIOCore

extension Request {
    /// The body as it came, all of it or a problem. `purse` pays for it as it arrives.
    func wholeBody(upTo limit: Int, from purse: borrowing BodyBudget.Purse) async throws(Problem) -> [UInt8] {
        if let encoding = headers[.contentEncoding], encoding.lowercased() != "identity" { throw .encodedBody }
        let length = headers[.contentLength].flatMap { Int($0) } ?? 0
        guard length <= limit else { throw .bodyTooLarge(limit: limit) }
        var bytes: [UInt8] = []
        var iterator = body.makeAsyncIterator()
        while let chunk = try await next(&iterator) {
            guard bytes.count + chunk.readableBytes <= limit else { throw .bodyTooLarge(limit: limit) }
            try purse.take(chunk.readableBytes)
            // What was announced is not believed beyond what is usual: nothing was paid for it yet.
            if bytes.isEmpty { bytes.reserveCapacity(max(min(length, 64 * 1024), chunk.readableBytes)) }
            bytes.append(contentsOf: chunk.readableBytesView)
        }
        return bytes
    }

    private func next(_ iterator: inout RequestBody.AsyncIterator) async throws(Problem) -> ByteBuffer? {
        do { return try await iterator.next() } catch { throw .unreadableBody }
    }
}
