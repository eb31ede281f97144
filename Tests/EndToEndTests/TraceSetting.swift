import Foundation
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Synchronization
import Testing

@testable import SignalboxGateway

/// A gateway with a webhook and a collector, for tests of traces.
enum TraceSetting {
    typealias Headers = [(name: String, value: String)]

    static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    /// A sampled context of this trace.
    static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    static let payload = Data(#"{"aps":{"alert":"Hi"}}"#.utf8)

    /// Runs a gateway that exports to a collector. `statuses`: of the webhook, the last one again and again.
    static func run(
        _ statuses: [Int] = [204], destination: String = "", telemetry: String = "",
        collector answer: @escaping @Sendable (WebhookReceiver.Message) async -> Int = { _ in 200 },
        _ body: @escaping @Sendable (Gateway, ReceivingServer, _ collector: ReceivingServer) async throws -> Void
    ) async throws {
        let rest = Mutex(statuses[...])
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run(
                answer: { _ in rest.withLock { $0.count > 1 ? $0.removeFirst() : $0.first ?? 204 } }
            ) { receiver in
                try await ReceivingServer.run(answer: answer) { collector in
                    let more = #""telemetry": {"endpoint": "\#(collector.url)", "interval": "1s"\#(telemetry)},"#
                    let config = Gateway.config(to: receiver.url, more: more)
                        .replacing(#""timeout":"#, with: destination + #""timeout":"#)
                    let gateway = try await Gateway.start(in: directory, config: config)
                    try await body(gateway, receiver, collector)
                }
            }
        }
    }

    static func event(_ message: WebhookReceiver.Message) throws -> [String: Any] {
        EventRecorder.record(message.body)
        return try #require(try JSONSerialization.jsonObject(with: Data(message.body)) as? [String: Any])
    }

    /// The spans of the next requests to a collector, until there are `count`.
    static func spans(_ count: Int, of collector: ReceivingServer) async throws -> [[String: Any]] {
        var spans: [[String: Any]] = []
        while spans.count < count {
            let message = try #require(await collector.next().first)
            let request = try Decompression.gunzip(message.body, upTo: 16 << 20)
            let isTraces = message.path == "/hooks/v1/traces"
            OTLPRecorder.record(request, as: isTraces ? "traces" : "metrics")
            guard isTraces else { continue }
            let json = try JSONSerialization.jsonObject(with: Data(request)) as? [String: Any]
            let scopes = (json?["resourceSpans"] as? [[String: Any]])?.first?["scopeSpans"] as? [[String: Any]]
            spans += try #require(scopes?.first?["spans"] as? [[String: Any]])
        }
        return spans
    }

    static func attributes(_ span: [String: Any]) -> [String: String] {
        let list = span["attributes"] as? [[String: Any]] ?? []
        return Dictionary(
            list.map { attribute in
                let value = attribute["value"] as? [String: Any]
                return (attribute["key"] as? String ?? "", value?.values.first as? String ?? "")
            }
        ) { first, _ in first }
    }

    /// Returns when the server is stopped.
    static func silence() async -> Int {
        for await _ in AsyncStream<Int>.makeStream().stream {}
        return 200
    }

    static func context(_ message: WebhookReceiver.Message) throws -> TraceContext {
        try #require(message.header("traceparent").flatMap { TraceContext($0) })
    }
}
