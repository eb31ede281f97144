import Foundation
import SignalboxMeasures

/// A gateway that downloads the pictures of events before it delivers them. The server of the pictures and the receiver
/// run on the same machine.
struct MediaBench {
    let binary: String
    let workspace: Workspace
    let table: Table

    private static let bytes = 50_000
    private static let perRequest = 100

    func run() async throws {
        table.section("Media: pictures of 50 kB from a server, and the receiver, on the same cores")
        let distinct = try await downloads(of: 5000) { "\($0)" }
        table.row(
            "distinct pictures, downloaded and delivered",
            "\((Double(distinct.events) / distinct.seconds).readable) a second (at least 1,000), \(Int(distinct.peakMB)) MB"
        )
        let shared = try await downloads(of: 10_000) { _ in "shared" }
        table.row(
            "10,000 events that share one picture",
            "\(shared.requests) downloads (1), \((Double(shared.events) / shared.seconds).readable) events a second")
    }

    private struct Figures: Sendable {
        let events: Int
        let requests: Int
        let seconds: Double
        let peakMB: Double
    }

    /// From the first payload handed in to the last event delivered with its picture.
    private func downloads(of events: Int, _ name: @escaping @Sendable (Int) -> String) async throws -> Figures {
        let pictures = PictureServer(bytes: Self.bytes)
        let receiver = ReceiverMeasure()
        let (binary, workspace) = (binary, workspace)
        return try await pictures.run { origin in
            try await receiver.run { url in
                let gateway = try GatewayProcess(
                    binary: binary, workspace: workspace, data: "media-\(events)", config: Self.config(crm: url))
                defer { gateway.stop() }
                let clock = ContinuousClock()
                let start = clock.now
                for first in stride(from: 0, to: events, by: Self.perRequest) {
                    let payloads = (first..<first + Self.perRequest).map { Self.payload(origin + "/" + name($0)) }
                    try gateway.post("/v1/notifications", payloads.joined(separator: "\n"))
                }
                await receiver.wait(for: events)
                return Figures(
                    events: events, requests: pictures.requests, seconds: (clock.now - start) / .seconds(1),
                    peakMB: gateway.peakMB)
            }
        }
    }

    private static func payload(_ url: String) -> String {
        #"{"aps":{"alert":"x","mutable-content":1},"media-attachment":"\#(url)","notification-action":{"type":"openApp"}}"#
    }

    private static func config(crm: String) -> String {
        """
        { "egress": { "allow": ["127.0.0.0/8"] }, "media": { "allowHttp": true },
          "destinations": { "crm": { "url": "\(crm)", "secret": "env:WEBHOOK_SECRET", "concurrency": 64 } },
          "routes": [ { "name": "everything", "match": {}, "to": ["crm"], "media": "stored", "mediaWait": "10m" } ] }
        """
    }
}
