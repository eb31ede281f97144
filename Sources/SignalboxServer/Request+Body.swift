import HTTPTypes
import Hummingbird
import NIOCore

extension HTTPRequest {
    /// False for a request that a page of another site had a browser send, or that came under a foreign name (DNS
    /// rebinding): both reach a loopback address although their author cannot.
    var isFromThisMachine: Bool {
        if let authority, !Self.isLoopback(authority) { return false }
        guard let origin = headerFields[.origin] else { return true }
        return Self.isLoopback(origin.replacing("http://", with: "").replacing("https://", with: ""))
    }

    /// `name`: a host, and a port or none.
    private static func isLoopback(_ name: String) -> Bool {
        // What nearly everybody sends, for it is asked of every request.
        if let port = name.utf8.after("127.0.0.1:") ?? name.utf8.after("localhost:"),
            port.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), (1...5).contains(port.count)
        {
            return true
        }
        let hasPort = name.hasPrefix("[") ? !name.hasSuffix("]") : name.contains(":")
        return ListenAddress(hasPort ? name : name + ":0")?.isLoopback ?? false
    }

}

extension Request {
    /// The whole body as it arrived, or a problem. `purse`: reserves memory as the body arrives. `takesEncoded`:
    /// accepts a compressed body, which stays compressed. ``RequestGuard`` enforces a minimum rate.
    func wholeBody(
        upTo limit: Int, from purse: borrowing BodyBudget.Purse, takesEncoded: Bool = false
    ) async throws(Problem) -> [UInt8] {
        let isEncoded = headers[.contentEncoding].map { $0.lowercased() != "identity" } ?? false
        if isEncoded, !takesEncoded { throw .encodedBody }
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

    /// Throws unless the body is empty or the empty JSON object, which some HTTP clients always send.
    func requireNoBody() async throws(Problem) {
        var bytes: [UInt8] = []
        var iterator = body.makeAsyncIterator()
        while let chunk = try await next(&iterator) {
            bytes += chunk.readableBytesView.filter { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
            guard "{}".utf8.starts(with: bytes) else { throw .unexpectedBody }
        }
        guard bytes.count != 1 else { throw .unexpectedBody }
    }

    private func next(_ iterator: inout RequestBody.AsyncIterator) async throws(Problem) -> ByteBuffer? {
        do {
            return try await iterator.next()
        } catch is SlowBody {
            throw .slowBody
        } catch {
            throw .unreadableBody
        }
    }
}

extension String.UTF8View {
    /// What follows a beginning; nil where it is another.
    fileprivate func after(_ beginning: String) -> Substring.UTF8View? {
        starts(with: beginning.utf8) ? dropFirst(beginning.utf8.count) : nil
    }
}
