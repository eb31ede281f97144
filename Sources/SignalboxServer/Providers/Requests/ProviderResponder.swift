import HTTPTypes
import Hummingbird
import NIOCore

/// Serves provider endpoints on the HTTP listener of the API. Requests to other paths pass unchanged.
struct ProviderResponder {
    /// Of the config that was active when the request began.
    let endpoints: ProviderEndpoints
    let budget: BodyBudget

    /// Returns nil for a path of the API. Answers a body that is too large, or that has no room, in the form of its
    /// endpoint. Suspends until the reply is known, and for its delay.
    func respond(to request: Request, context: GatewayRequestContext) async -> Response? {
        let provider = ProviderRequest(request, context)
        switch endpoints.verdict(on: provider) {
        case nil: return nil
        case .reply(let reply): return await response(reply, to: request)
        case .body(let reading): return await response(await answer(request, reading, peer: context.peer), to: request)
        }
    }

    /// After the delay of the reply, unless the request is cancelled.
    private func response(_ reply: ProviderReply, to request: Request) async -> Response {
        if let delay = reply.delay { try? await ContinuousClock().sleep(for: delay) }
        return Response(reply, isHead: request.method == .head)
    }

    /// Faults of a body for which the provider has no words are answered in plain text, and the connection closes.
    private func answer(_ request: Request, _ reading: ProviderBody, peer: PeerAddress) async -> ProviderReply {
        var reservation = BodyReservation(in: budget, for: BodyHolder(source: reading.source, peer: peer))
        let body: [UInt8]
        do throws(Problem) {
            body = try await request.wholeBody(upTo: reading.limit, reserving: &reservation, takesEncoded: true)
        } catch {
            switch error.status {
            case .contentTooLarge: return reading.refuse(.tooLarge)
            case .serviceUnavailable: return reading.refuse(.busy)
            default:
                return ProviderReply(
                    status: error.status.code, headers: [.init(name: "content-type", value: "text/plain")],
                    body: Array((error.detail + "\n").utf8), after: .close)
            }
        }
        let reply = await withCheckedContinuation { done in
            reading.handle(body) { done.resume(returning: $0) }
        }
        return withExtendedLifetime(reading.permit) { reply }
    }
}

extension ProviderRequest {
    /// A request of HTTP/1.1. The connection of each request is a value of its own: endpoints that record proofs of a
    /// connection need the listener for providers.
    convenience init(_ request: Request, _ context: GatewayRequestContext) {
        let head = request.head
        let address = context.channel.remoteAddress
        self.init(
            method: head.method.rawValue, path: request.uri.path, query: request.uri.query, authority: head.authority,
            headers: head.headerFields.map { ($0.name.canonicalName, $0.value) },
            bodyLength: Self.length(of: head),
            connection: ProviderConnection(
                peer: context.peer, address: address?.ipAddress ?? "",
                isLoopback: ListenAddress(host: address?.ipAddress ?? "", port: 0).isLoopback, isOfOneRequest: true))
    }

    /// Nil for a chunked body.
    private static func length(of head: HTTPRequest) -> Int? {
        if let length = head.headerFields[.contentLength] { return Int(length) ?? .max }
        return head.headerFields[.transferEncoding] == nil ? 0 : nil
    }
}

extension Response {
    /// `isHead`: the response to HEAD has no body. Of the effects on a connection, only its end is supported: a cut
    /// response is sent whole, then the connection closes.
    fileprivate init(_ reply: ProviderReply, isHead: Bool) {
        var headers = HTTPFields()
        for header in reply.headers {
            guard let name = HTTPField.Name(header.name) else { continue }
            headers.append(HTTPField(name: name, value: header.value))
        }
        if reply.after.isLast { headers[.connection] = "close" }
        self.init(
            status: HTTPResponse.Status(code: reply.status), headers: headers,
            body: isHead || reply.body.isEmpty
                ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: reply.body)))
    }
}
