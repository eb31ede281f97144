import Hummingbird
import Logging
import SignalboxEgress
import SignalboxNotification
import SignalboxStore
import SignalboxTesting
import Testing

@testable import SignalboxServer

@Suite(.timeLimit(.minutes(15))) struct HTTPStopTests {
    /// A read of a directory on a network may not end for minutes.
    @Test func doesNotWaitForARequestWhoseDiskHangs() async throws {
        let (addresses, listening) = AsyncStream.makeStream(of: ListenAddress.self)
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let (hang, end) = AsyncStream.makeStream(of: Void.self)
        let router = Router(context: GatewayRequestContext.self)
        router.get("/media") { _, _ in
            begin.yield()
            // Not interrupted by a cancellation.
            await Task { for await _ in hang {} }.value
            return ""
        }
        let timer = ManualTimer()
        var service = HTTPService(
            address: ListenAddress(host: "127.0.0.1", port: 0), logger: Logger(label: "test"),
            budget: BodyBudget(bytes: 1_000_000), onListening: { listening.yield($0) })
        service.delayed = DelayedCall { timer.schedule(after: $0, $1) }
        let running = Task { [service] in try await service.run(router.buildResponder()) }
        var listened = addresses.makeAsyncIterator()
        let url = "http://\(try #require(await listened.next()))/media"
        let http = OutboundHTTP(policy: AddressPolicy(allow: [AddressRange("127.0.0.0/8")].compactMap { $0 }))
        async let attempt = http.attempt(OutboundRequest(method: .get, url: url, body: []))
        for await _ in begun { break }
        running.cancel()
        while timer.count == 0 { await Task.yield() }
        timer.pass(HTTPService.hangTime)
        _ = await running.result
        end.finish()
        http.stop()
        _ = await attempt
    }
}
