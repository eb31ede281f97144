import Logging
import ServiceLifecycle
package import SignalboxServer

/// A real webhook endpoint on loopback. The test awaits requests and chooses the responses. The receiver of
/// `signalbox listen`, without verification of signatures.
package final class ReceivingServer: Sendable {
    // A class because the server's connections and the test share it.
    /// Unbounded: a test that does not read them keeps them in memory.
    private let messages: BoundedStream<WebhookReceiver.Message>
    /// With the port that the system chose.
    package let address: ListenAddress

    /// ``run(answer:_:)`` makes it once the server listens.
    private init(address: ListenAddress, messages: BoundedStream<WebhookReceiver.Message>) {
        self.address = address
        self.messages = messages
    }

    /// The URL of the endpoint.
    package var url: String { "http://\(address)/hooks" }

    /// The next `count` messages. Waits until all have arrived; one that does not come within ``WaitBound/time`` fails
    /// the test. Messages are kept in the order of their arrival. One reader at a time.
    package func next(_ count: Int = 1) async -> [WebhookReceiver.Message] {
        var received: [WebhookReceiver.Message] = []
        guard count > 0 else { return [] }
        for await message in messages {
            received.append(message)
            if received.count == count { break }
        }
        return received
    }

    /// Runs a server while `body` runs. `host`: its address. `answer` receives each message and returns the status of
    /// the response. The server stops when `body` ends. Rethrows its error.
    package static func run<R: Sendable>(
        on host: String = "127.0.0.1",
        answer: @escaping @Sendable (WebhookReceiver.Message) async -> Int = { _ in 204 },
        _ body: @Sendable @escaping (ReceivingServer) async throws -> R
    ) async throws -> R {
        let (messages, arrival) = AsyncStream.makeStream(of: WebhookReceiver.Message.self)
        let (addresses, listening) = AsyncStream.makeStream(of: ListenAddress.self)
        var logger = Logger(label: "receiver")
        logger.logLevel = .critical
        let receiver = WebhookReceiver(
            address: ListenAddress(host: host, port: 0), logger: logger,
            onListening: { listening.yield($0) },
            receive: { message in
                arrival.yield(message)
                return await answer(message)
            })
        let group = ServiceGroup(services: [receiver], logger: logger)
        return try await withThrowingTaskGroup(of: R?.self) { tasks in
            tasks.addTask {
                try await group.run()
                return nil
            }
            tasks.addTask {
                for await address in addresses {
                    let bounded = BoundedStream(stream: messages, awaited: "The next webhook") { arrival.finish() }
                    return try await body(ReceivingServer(address: address, messages: bounded))
                }
                return nil
            }
            while let result = try await tasks.next() {
                guard let result else { continue }
                await group.triggerGracefulShutdown()
                tasks.cancelAll()
                return result
            }
            throw ReceiverEnded()
        }
    }

    /// The server ended before the body of the test did.
    private struct ReceiverEnded: Error {}
}
