import Foundation

/// The gateway next to nginx, which answers the same requests with 204 and stores nothing. The load generator, the
/// gateway and the receiver share the cores. Rates are those of one round, and ratios are medians of all rounds.
struct PeerBench {
    let binary: String
    let workspace: Workspace
    let payloads: Payloads
    let table: Table

    private static let (connections, seconds, rounds) = (64, 5, 5)
    private static let batch = 100

    func run() async throws {
        table.section(
            "nginx next to the gateway: \(Self.connections) connections for \(Self.seconds) s, \(Self.rounds) rounds in turn"
        )
        let nginx = try Nginx(in: workspace)
        defer { nginx.stop() }
        let (single, batched) = (try script(perRequest: 1), try script(perRequest: Self.batch))
        var rounds: [Round] = []
        for number in 0..<Self.rounds { rounds.append(try round(number, nginx.url, single, batched)) }
        table.row("nginx, 204", "\(median(rounds.map(\.nginx)).readable) requests a second")
        row("accepted, durable, single payloads", "at least 0.30", rounds.map { ($0.single, $0.single / $0.nginx) })
        table.row("p99 to p50 of single payloads", "\(BeforeBench.words(rounds.map(\.tail))) (at most 4)")
        row("accepted, durable, batches of 100", "at least 2.0", rounds.map { ($0.batched, $0.batched / $0.nginx) })
        row("accepted and delivered to nginx", "at least 0.20", rounds.map { ($0.delivered, $0.delivered / $0.nginx) })
        let peak = rounds.map(\.peakMB).max() ?? 0
        table.row("peak memory of the gateway", "\(Int(peak)) MB (at most 80)")
        table.row(
            "start to the first accepted payload",
            "\(median(rounds.map(\.start)).readable) ms with a queue that exists (at most 60)")
    }

    private func row(_ what: String, _ limit: String, _ results: [(rate: Double, ratio: Double)]) {
        table.row(
            what,
            "\(median(results.map(\.rate)).readable) a second, to nginx: \(BeforeBench.words(results.map(\.ratio))) (\(limit))"
        )
    }

    /// Payloads a second, except for nginx.
    private struct Round {
        var nginx = 0.0
        var single = 0.0
        var batched = 0.0
        var delivered = 0.0
        /// p99 of single payloads divided by p50.
        var tail = 0.0
        var peakMB = 0.0
        /// Milliseconds.
        var start = 0.0
    }

    private func round(_ number: Int, _ url: String, _ single: String, _ batched: String) throws -> Round {
        var round = Round()
        let bare = try load(single, url)
        round.nginx = Double(bare.accepted) / Double(Self.seconds)
        for (script, count) in [(single, 1), (batched, Self.batch)] {
            let gateway = try start("accept-\(number)-\(count)", to: url)
            defer { gateway.stop() }
            try gateway.post("/v1/destinations/crm/pause")
            let load = try load(script, gateway.url)
            let rate = Double(load.accepted * count) / Double(Self.seconds)
            if count == 1 { (round.single, round.tail) = (rate, load.tail) } else { round.batched = rate }
            round.peakMB = max(round.peakMB, gateway.peakMB)
        }
        let gateway = try start("deliver-\(number)", to: url)
        let begun = ContinuousClock.now
        let load = try load(single, gateway.url)
        while try delivered(by: gateway) < load.accepted { usleep(20_000) }
        round.delivered = Double(load.accepted) / ((ContinuousClock.now - begun) / .seconds(1))
        round.peakMB = max(round.peakMB, gateway.peakMB)
        gateway.stop()
        // The same queue again, so that no table is made.
        let launch = ContinuousClock.now
        let again = try start("deliver-\(number)", to: url)
        try again.postDirectly(#"{"aps":{"alert":"first"}}"#)
        round.start = (ContinuousClock.now - launch) / .milliseconds(1)
        again.stop()
        return round
    }

    private func load(_ script: String, _ url: String) throws -> Load {
        try Load.run(script: script, connections: Self.connections, seconds: Self.seconds, url: url)
    }

    private func start(_ data: String, to url: String) throws -> GatewayProcess {
        try GatewayProcess(binary: binary, workspace: workspace, data: data, config: config(url))
    }

    private func delivered(by gateway: GatewayProcess) throws -> Int {
        let name = #"signalbox_deliveries_ended_total{destination="crm",outcome="delivered"} "#
        let line = try gateway.get("/metrics").split(separator: "\n").first { $0.hasPrefix(name) }
        return line.flatMap { Int($0.dropFirst(name.count)) } ?? 0
    }

    /// The route ignores the periods that payloads set, because every accepted event must arrive.
    private func config(_ url: String) -> String {
        """
        { "egress": { "allow": ["127.0.0.0/8"] },
          "destinations": { "crm": { "url": "\(url)", "secret": "env:WEBHOOK_SECRET", "concurrency": 128 } },
          "routes": [ { "name": "everything", "match": {}, "to": ["crm"], "ignore": ["notBefore", "notAfter"] } ] }
        """
    }

    private func script(perRequest: Int) throws -> String {
        let texts = payloads.mixed.prefix(200).map { String(decoding: $0, as: UTF8.self).replacing("\n", with: " ") }
        let bodies = texts.indices.map { start in
            (0..<perRequest).map { texts[(start + $0) % texts.count] }.joined(separator: "\n")
        }
        return try Load.script(posting: bodies, in: workspace, named: "load-\(perRequest).lua")
    }
}

/// An nginx that answers every request with 204. A class because it owns the process.
private final class Nginx {
    private let process = Process()
    let url: String

    /// Returns once it answers. SIGNALBOX_BENCH_NGINX names the program; `make bench` sets it.
    init(in workspace: Workspace) throws {
        // Below the ports that the kernel gives to connections.
        url = "http://127.0.0.1:\(Int.random(in: 15_000..<32_000))"
        let folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "\($0)_temp_path \(workspace.file($0));"
        }
        let config = """
            daemon off; worker_processes 1; pid \(workspace.file("nginx.pid")); error_log stderr crit;
            events { worker_connections 1024; }
            http { access_log off; keepalive_requests 100000000; \(folders.joined(separator: " "))
              server { listen \(url.dropFirst(7)); location / { return 204; } } }
            """
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            ProcessInfo.processInfo.environment["SIGNALBOX_BENCH_NGINX"] ?? "nginx", "-p", workspace.path, "-c",
            try workspace.write(config, to: "nginx.conf"),
        ]
        try process.run()
        for _ in 0..<200 {
            if (try? Usage.of(["curl", "--silent", url])) != nil { return }
            usleep(20_000)
        }
        throw FailedProgram(command: ["nginx"], status: 1)
    }

    func stop() {
        process.terminate()
        process.waitUntilExit()
    }
}
