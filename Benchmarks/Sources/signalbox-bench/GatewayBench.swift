import Foundation
import SignalboxMeasures

/// A gateway as a process of its own, with a load generator (wrk) and a receiver on the same machine: HTTP in, durable,
/// signed webhook out.
struct GatewayBench {
    let binary: String
    let workspace: Workspace
    let payloads: Payloads
    let table: Table

    private static let seconds = 8
    /// The numbers of connections at which the gateway is fastest: more senders share a commit, too many compete.
    private static let (single, batched, delivered) = (128, 48, 80)
    private static let concurrency = 128

    func run() async throws {
        table.section(
            "Gateway: \(Self.single), \(Self.batched) and \(Self.delivered) connections for \(Self.seconds) s, generator and receiver on the same cores"
        )
        try accept()
        let alone = try await deliver()
        for hanging in [1, 10] {
            let beside = try await deliver(besideHanging: hanging)
            table.row(
                "with a dead and \(hanging) hanging destinations, to alone",
                "\((beside / alone).readable) times" + (hanging == 1 ? " (at least 0.9)" : ""))
        }
    }

    // MARK: Only in

    /// Durable accept: every event has a delivery, to a destination that is paused.
    private func accept() throws {
        for (what, perRequest) in [("single payloads", 1), ("batches of 100", 100)] {
            let gateway = try GatewayProcess(
                binary: binary, workspace: workspace, data: "accept-\(perRequest)",
                config: config(crm: "http://127.0.0.1:9/"))
            defer { gateway.stop() }
            try gateway.post("/v1/destinations/crm/pause")
            let load = try Load.run(
                script: try generatorScript(perRequest: perRequest),
                connections: perRequest == 1 ? Self.single : Self.batched, seconds: Self.seconds, url: gateway.url)
            table.row(
                "accepted, durable, \(what)",
                "\((Double(load.accepted * perRequest) / Double(Self.seconds)).readable) events a second, p99 \(load.p99), \(Int(gateway.peakMB)) MB"
            )
        }
    }

    // MARK: In and out

    /// Returns how many events arrived in a second. `hanging`: the number of destinations that never answer; one
    /// more refuses. Each of them has a backlog.
    private func deliver(besideHanging hanging: Int = 0) async throws -> Double {
        let receiver = ReceiverMeasure()
        let script = try generatorScript()
        let silence = try SilentServer()
        let silent = silence.url
        defer { withExtendedLifetime(silence) {} }
        return try await receiver.run { url in
            let gateway = try GatewayProcess(
                binary: binary, workspace: workspace, data: "deliver-\(hanging)",
                config: config(crm: url, silent: silent, hanging: max(1, hanging)))
            if hanging > 0 {
                let body = String(repeating: #"{"aps":{"alert":"x"}}"# + "\n", count: 5000)
                for _ in 0..<4 { try gateway.post("/v1/sources/backlog/notifications", body) }
            }
            let clock = ContinuousClock()
            let start = clock.now
            let load = try Load.run(
                script: script, connections: Self.delivered, seconds: Self.seconds, url: gateway.url)
            await receiver.wait(for: load.accepted)
            let rate = Double(load.accepted) / ((clock.now - start) / .seconds(1))
            let peak = gateway.peakMB
            gateway.stop()
            guard hanging == 0 else {
                table.row(
                    "delivered with a dead and \(hanging) hanging",
                    "\(rate.readable) events a second, \(Int(peak)) MB")
                return rate
            }
            let delays = receiver.delays.sorted()
            table.row(
                "accepted and delivered",
                "\((Double(load.accepted) / Double(Self.seconds)).readable) and \(rate.readable) events a second")
            table.row("answered in", "p50 \(load.p50), p99 \(load.p99)")
            table.row(
                "acceptance to arrival",
                "p50 \(delays[delays.count / 2].readable) ms, p99 \(delays[delays.count * 99 / 100].readable) ms")
            table.row("peak memory of the gateway", "\(Int(peak)) MB")
            return rate
        }
    }

    // MARK: For long

    /// Load with pauses, to a destination that works, one that refuses and one that never answers. Each receives every
    /// event. Returns the memory of the last quarter divided by that of the second.
    func soak(seconds: Int) async throws -> Double {
        table.section("Soak: \(seconds) s of good, refusing and hanging destinations")
        let receiver = ReceiverMeasure()
        let script = try generatorScript()
        let silence = try SilentServer()
        let silent = silence.url
        defer { withExtendedLifetime(silence) {} }
        return try await receiver.run { url in
            let gateway = try GatewayProcess(
                binary: binary, workspace: workspace, data: "soak",
                config: config(crm: url, silent: silent, everythingTo: ["crm", "dead", "hanging-1"]))
            defer { gateway.stop() }
            var memory: [Double] = []
            var accepted = 0
            let slice = max(5, seconds / 20)
            for _ in 0..<max(4, seconds / slice) {
                let load = try Load.run(script: script, connections: 8, seconds: slice, url: gateway.url)
                accepted += load.accepted
                await receiver.wait(for: accepted)
                memory.append(gateway.memoryMB)
                table.row("\(accepted) events accepted, all arrived", "\(Int(gateway.memoryMB)) MB")
            }
            func highest(_ quarter: Int) -> Double {
                memory[(memory.count * quarter / 4)..<(memory.count * (quarter + 1) / 4)].max() ?? 0
            }
            table.row("memory, last quarter to second", "\((highest(3) / highest(1)).readable) times (at most 1.1)")
            return highest(3) / highest(1)
        }
    }

    /// Events of the source `backlog` go to the destinations that do not work, all others to `crm`. The route ignores
    /// the periods that payloads set, because every accepted event must arrive.
    private func config(
        crm: String, silent: String? = nil, hanging: Int = 1, everythingTo names: [String] = ["crm"]
    ) -> String {
        var destinations = ["crm": crm]
        if let silent {
            destinations["dead"] = "http://127.0.0.1:9/"
            for number in 1...hanging { destinations["hanging-\(number)"] = silent }
        }
        let bad = destinations.keys.filter { $0 != "crm" }.sorted()
        let route =
            #"{ "name": "bad", "match": { "source": ["/signalbox/signalbox/backlog"] }, "to": \#(bad), "stop": true },"#
        let entries = destinations.map { name, url in
            """
            "\(name)": { "url": "\(url)", "secret": "env:WEBHOOK_SECRET", "concurrency": \(Self.concurrency) }
            """
        }
        return """
            { "egress": { "allow": ["127.0.0.0/8"] },
              "destinations": { \(entries.sorted().joined(separator: ", ")) },
              "routes": [ \(bad.isEmpty ? "" : route) { "name": "everything", "match": {}, "to": \(names),
                "ignore": ["notBefore", "notAfter"] } ] }
            """
    }

    /// `perRequest`: payloads in each request, as lines.
    private func generatorScript(perRequest: Int = 1) throws -> String {
        let texts = payloads.mixed.prefix(200).map { String(decoding: $0, as: UTF8.self).replacing("\n", with: " ") }
        let bodies = (0..<200).map { start in
            (0..<perRequest).map { texts[(start + $0) % texts.count] }.joined(separator: "\n")
        }
        return try Load.script(posting: bodies, in: workspace)
    }
}
