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
    private static let connections = 64

    func run() async throws {
        table.section(
            "End to end: \(Self.connections) connections for \(Self.seconds) s, generator and receiver on the same cores"
        )
        let receiver = ReceiverMeasure()
        let script = try generatorScript()
        try await receiver.run { url in
            let gateway = try GatewayProcess(binary: binary, workspace: workspace, receiver: url)
            let clock = ContinuousClock()
            let start = clock.now
            let load = try Load.run(
                script: script, connections: Self.connections, seconds: Self.seconds, url: gateway.url)
            await receiver.wait(for: load.accepted)
            let time = (clock.now - start) / .seconds(1)
            let peak = gateway.peakMB
            gateway.stop()
            let delays = receiver.delays.sorted()
            table.row("accepted, durable", "\((Double(load.accepted) / Double(Self.seconds)).readable) events a second")
            table.row("answered in", "p50 \(load.p50), p99 \(load.p99)")
            table.row(
                "delivered, until the last had arrived", "\((Double(load.accepted) / time).readable) events a second")
            table.row(
                "acceptance to arrival",
                "p50 \(delays[delays.count / 2].readable) ms, p99 \(delays[delays.count * 99 / 100].readable) ms")
            table.row("peak memory of the gateway", "\(Int(peak)) MB")
        }
    }

    private func generatorScript() throws -> String {
        let bodies = payloads.mixed.prefix(200).map { payload in
            "[==[" + String(decoding: payload, as: UTF8.self) + "]==]"
        }
        return try workspace.write(
            """
            local bodies = { \(bodies.joined(separator: ",\n")) }
            local requests = {}
            local number = 0
            init = function(args)
              for i, body in ipairs(bodies) do
                requests[i] = wrk.format("POST", "/v1/notifications", { ["content-type"] = "application/json" }, body)
              end
            end
            request = function()
              number = number % #requests + 1
              return requests[number]
            end
            done = function(summary, latency, requests)
              io.write(string.format("RESULT %d %d %d %d\\n", summary.requests - summary.errors.status,
                summary.errors.status, latency:percentile(50), latency:percentile(99)))
            end
            """, to: "load.lua")
    }
}

/// A gateway started for a measurement.
final class GatewayProcess {
    // A class because it owns a process.
    private let process = Process()
    let url: String

    init(binary: String, workspace: Workspace, receiver: String) throws {
        let config = try workspace.write(
            """
            { "egress": { "allow": ["127.0.0.0/8"] },
              "destinations": { "crm": { "url": "\(receiver)", "secret": "env:WEBHOOK_SECRET", "concurrency": 64 } },
              "routes": [ { "name": "everything", "match": {}, "to": ["crm"] } ] }
            """, to: "routes.json")
        let errors = Pipe()
        process.executableURL = URL(fileURLWithPath: binary)
        process.arguments = [
            "serve", "--config", config, "--listen", "127.0.0.1:0", "--data-dir", workspace.file("data"),
        ]
        process.environment = ProcessInfo.processInfo.environment.merging([
            "WEBHOOK_SECRET": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        ]) { $1 }
        process.standardError = errors
        try process.run()
        var text = ""
        while !text.contains("\n"), case let piece = errors.fileHandleForReading.availableData, !piece.isEmpty {
            text += String(decoding: piece, as: UTF8.self)
        }
        guard let start = text.range(of: "http://") else { throw FailedProgram(command: [binary, "serve"], status: 1) }
        url = String(text[start.lowerBound...].prefix { !$0.isWhitespace })
    }

    /// The most memory it has had so far, by the kernel's account.
    var peakMB: Double {
        let status = (try? String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Double($0) } ?? 0) / 1024
    }

    func stop() {
        process.terminate()
        process.waitUntilExit()
    }
}

/// What the load generator saw.
struct Load {
    let accepted: Int
    let p50: String
    let p99: String

    static func run(script: String, connections: Int, seconds: Int, url: String) throws -> Load {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["wrk", "-t1", "-c\(connections)", "-d\(seconds)s", "-s", script, url]
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("RESULT ") }) else {
            throw FailedProgram(command: ["wrk"], status: process.terminationStatus)
        }
        let numbers = line.split(separator: " ").dropFirst().compactMap { Double($0) }
        if numbers[1] > 0 { print("  \(Int(numbers[1])) requests were refused") }
        return Load(
            accepted: Int(numbers[0]), p50: "\((numbers[2] / 1000).readable) ms",
            p99: "\((numbers[3] / 1000).readable) ms")
    }
}
