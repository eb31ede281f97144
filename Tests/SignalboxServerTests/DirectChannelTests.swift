import HTTPTypes
import Hummingbird
import Logging
import SignalboxEgress
import SignalboxModel
import SignalboxStore
import Testing

@testable import SignalboxServer

@Suite(.timeLimit(.minutes(1))) struct DirectChannelTests {
    /// On a real connection: who answers, before and behind the other.
    @Test func eachRequestIsAnsweredByWhoItIsFor() async throws {
        let router = Router()
        router.post("/**") { _, _ in "by a task" }
        let responder = router.buildResponder()
        let direct = DirectResponder(bodyLimit: 10) {
            $0.path == "/direct" ? DirectSender(source: .default, config: 1) : nil
        } respond: { request, eventLoop in
            guard String(buffer: request.body) != "refused" else { return nil }
            return eventLoop.makeSucceededFuture(DirectAnswer(StoredAnswer(status: 202, body: Array("at once".utf8))))
        }
        let (addresses, listening) = AsyncStream.makeStream(of: ListenAddress.self)
        let service = HTTPService(
            address: ListenAddress(host: "127.0.0.1", port: 0), logger: Logger(label: "test"),
            onListening: { listening.yield($0) })
        let http = OutboundHTTP(policy: AddressPolicy(allow: [AddressRange("127.0.0.0/8")].compactMap { $0 }))
        defer { http.stop() }
        try await withThrowingTaskGroup { group in
            group.addTask { try await service.run(responder, direct: direct) }
            var listened = addresses.makeAsyncIterator()
            let url = "http://\(try #require(await listened.next()))"
            for (path, body, answer) in [
                ("/direct", "x", "at once"), ("/other", "x", "by a task"), ("/direct", "x", "at once"),
                ("/direct", "refused", "by a task"), ("/direct", "more than ten", "by a task"),
                ("/direct", "", "at once"),
            ] {
                let reply = try await http.send(OutboundRequest(url: url + path, body: Array(body.utf8)))
                #expect(String(decoding: reply.excerpt, as: UTF8.self) == answer, "\(path) \(body)")
            }
            group.cancelAll()
        }
    }
}
