import Hummingbird
import NIOCore
import NIOHTTP1

extension Request {
    /// Collects the body as it arrived, or throws a problem. `reservation` grows as the body arrives. `takesEncoded`:
    /// accepts a compressed body, which stays compressed. ``RequestGuard`` enforces a minimum rate. Throws 415 for a
    /// compressed body, 413 beyond the limit, 503 without memory, 408 for a slow body and 400 for an incomplete one.
    func wholeBody(
        upTo limit: Int, reserving reservation: inout BodyReservation, takesEncoded: Bool = false
    ) async throws(Problem) -> [UInt8] {
        let isEncoded = headers[.contentEncoding].map { $0.lowercased() != "identity" } ?? false
        if isEncoded, !takesEncoded { throw .encodedBody }
        // The parser has rejected values that are not numbers.
        let length = headers[.contentLength].map { Int($0) ?? .max } ?? 0
        guard length <= limit else { throw .bodyTooLarge(limit: limit) }
        var bytes: [UInt8] = []
        var iterator = body.makeAsyncIterator()
        while let chunk = try await next(&iterator) {
            guard bytes.count + chunk.readableBytes <= limit else { throw .bodyTooLarge(limit: limit) }
            try reservation.grow(by: chunk.readableBytes)
            // At most 64 KiB for an announced length: the reservation grows only with the bytes that arrive.
            if bytes.isEmpty { bytes.reserveCapacity(max(min(length, 64 * 1024), chunk.readableBytes)) }
            bytes.append(contentsOf: chunk.readableBytesView)
        }
        return bytes
    }

    /// Throws unless the body is empty or the empty JSON object, which some HTTP clients always send. Reads no further
    /// than the first byte that is not allowed.
    func requireNoBody() async throws(Problem) {
        var bytes: [UInt8] = []
        var iterator = body.makeAsyncIterator()
        while let chunk = try await next(&iterator) {
            bytes += chunk.readableBytesView.filter { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
            guard "{}".utf8.starts(with: bytes) else { throw .unexpectedBody }
        }
        guard bytes.count != 1 else { throw .unexpectedBody }
    }

    /// The next piece; nil at the end. Throws 408 for a slow body, and 400 for a malformed one and one that ends early.
    private func next(_ iterator: inout RequestBody.AsyncIterator) async throws(Problem) -> ByteBuffer? {
        do {
            return try await iterator.next()
        } catch is SlowBody {
            throw .slowBody
        } catch let error as HTTPParserError where error != .invalidEOFState {
            throw .malformedBody
        } catch {
            throw .unreadableBody
        }
    }
}
