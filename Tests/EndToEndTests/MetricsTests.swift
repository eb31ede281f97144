import Foundation
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// The metrics of a running gateway. `Tests/check-monitoring.py` checks their formats with reference tools.
@Suite(.timeLimit(.minutes(2))) struct MetricsTests {
    private let payload = Data(#"{"aps":{"alert":"x"}}"#.utf8)

    /// The value of a sample; nil for one that the page does not have.
    private func value(_ sample: String, in page: String) -> Double? {
        page.split(separator: "\n").first { $0.hasPrefix(sample + " ") }
            .flatMap { $0.split(separator: " ").last.map(String.init) }.flatMap(Double.init)
    }

    /// Waits until a sample has a value.
    private func wait(for expected: Double, of sample: String, at gateway: Gateway) async throws {
        while try await value(sample, in: gateway.metrics()) != expected { await Task.yield() }
    }

    /// A small payload is read on the event loop of its connection, a request with a key by the router.
    @Test func bothPathsCountUnderTheDeclaredPath() async throws {
        try await Gateway.run { gateway, _, _ in
            #expect(try await gateway.post(payload).status == 202)
            #expect(try await gateway.post(payload, headers: [("idempotency-key", "k1")]).status == 202)
            #expect(try await gateway.post(payload, to: "/v1/sources/default/notifications").status == 202)
            #expect(try await gateway.post(Data("no".utf8)).status == 400)
            _ = try await gateway.get("/v1/deliveries/1")
            _ = try await gateway.get("/v1/nothing?secret=1")
            let page = try await gateway.metrics()
            func count(_ route: String, _ status: Int) -> Double? {
                let labels = "{route=\"\(route)\",status=\"\(status)\"}"
                return value("signalbox_http_request_duration_seconds_count\(labels)", in: page)
            }
            #expect(count("/v1/notifications", 202) == 2)
            #expect(count("/v1/notifications", 400) == 1)
            #expect(count("/v1/sources/{source}/notifications", 202) == 1)
            #expect(count("/v1/deliveries/{id}", 200) == 1)
            #expect(count("unknown", 404) == 1)
            #expect(!page.contains("secret"))
            let received = "signalbox_events_received_total{source=\"default\",vendor=\"unknown\",kind=\"alert\"}"
            #expect(value(received, in: page) == 3)
            #expect(value("signalbox_queue_commit_duration_seconds_count", in: page) ?? 0 > 0)
            #expect(value("signalbox_queue_file_bytes", in: page) ?? 0 > 8192)
        }
    }

    @Test func providerEndpointsCountByTheirKind() async throws {
        try await Gateway.run { gateway, _, _ in
            let token = String(repeating: "0123456789abcdef", count: 4)
            let push = ["-H", "apns-topic: com.example.app", "-d", #"{"aps":{"alert":"Hello"}}"#]
            #expect(try await Reply(gateway.url + "/3/device/" + token, push).status == 200)
            #expect(try await Reply(gateway.url + "/3/device/short", push).status == 400)
            let page = try await gateway.metrics()
            for status in [200, 400] {
                let labels = "{route=\"apns\",status=\"\(status)\"}"
                #expect(value("signalbox_http_request_duration_seconds_count\(labels)", in: page) == 1, "\(status)")
            }
            #expect(!page.contains(token))
        }
    }

    /// Counts of the queue survive a restart, those of the process do not.
    @Test func deliveriesAreCountedAsTheyEnd() async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run { receiver in
                let config = Gateway.config(to: receiver.url)
                let gateway = try await Gateway.start(in: directory, config: config)
                let ended = #"signalbox_deliveries_ended_total{destination="crm",outcome="delivered"}"#
                #expect(value(ended, in: try await gateway.metrics()) == 0)
                for _ in 0..<3 { #expect(try await gateway.post(payload).status == 202) }
                try await wait(for: 3, of: ended, at: gateway)
                try await wait(for: 3, of: #"signalbox_delivery_lag_seconds_count{destination="crm"}"#, at: gateway)
                let page = try await gateway.metrics()
                let attempts = #"signalbox_delivery_attempts_total{destination="crm",outcome="delivered",error="none"}"#
                #expect(value(attempts, in: page) == 3)
                #expect(value(#"signalbox_destination_in_flight{destination="crm"}"#, in: page) == 0)
                #expect(value(#"signalbox_deliveries_waiting{destination="crm"}"#, in: page) == 0)
                #expect(await gateway.stop() == 0)

                let second = try await Gateway.start(in: directory)
                let after = try await second.metrics()
                #expect(value(#"signalbox_deliveries_accepted_total{destination="crm"}"#, in: after) == 3)
                #expect(value(ended, in: after) == 0)
                #expect(await second.stop() == 0)
            }
        }
    }

    /// A dead letter stays a gauge until an operator requeues it, even from the command line.
    @Test func deadLettersFollowTheCommandLine() async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run(answer: { _ in 400 }) { receiver in
                let gateway = try await Gateway.start(in: directory, config: Gateway.config(to: receiver.url))
                let dead = #"signalbox_deliveries_dead{destination="crm"}"#
                for _ in 0..<2 { #expect(try await gateway.post(payload).status == 202) }
                try await wait(for: 2, of: dead, at: gateway)
                let purge = try await binary.run(["deliveries", "purge", "--state", "dead", "--yes"], in: directory)
                #expect(purge.status == 0, "\(purge)")
                #expect(value(dead, in: try await gateway.metrics()) == 0)
                let ended = #"signalbox_deliveries_ended_total{destination="crm",outcome="dead"}"#
                #expect(value(ended, in: try await gateway.metrics()) == 2)
                #expect(await gateway.stop() == 0)
            }
        }
    }

    @Test func theScrapeIsNegotiated() async throws {
        try await Gateway.run { gateway, _, _ in
            let open = try await Reply(
                gateway.url + "/metrics", "-H", "accept: application/openmetrics-text;version=1.0.0")
            #expect(open.headers["content-type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8")
            #expect(String(decoding: open.body, as: UTF8.self).hasSuffix("\n# EOF\n"))
            #expect(open.headers["vary"] == "accept, accept-encoding")
            let plain = try await Reply(gateway.url + "/metrics", "-H", "accept-encoding: gzip")
            #expect(plain.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
            #expect(plain.headers["content-encoding"] == "gzip" && plain.body.starts(with: [0x1F, 0x8B]))
        }
    }
}
