import Foundation

/// The results of the load generator.
struct Load {
    let accepted: Int
    let p50: String
    let p99: String
    /// p99 divided by p50.
    let tail: Double

    static func run(script: String, connections: Int, seconds: Int, url: String) throws -> Load {
        try RunningLoad(script: script, connections: connections, seconds: seconds, url: url).result()
    }
}

/// A load generator that has been started, so that several can run at once.
struct RunningLoad {
    private let process = Process()
    private let output = Pipe()

    init(script: String, connections: Int, seconds: Int, url: String) throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["wrk", "-t1", "-c\(connections)", "-d\(seconds)s", "-s", script, url]
        process.standardOutput = output
        try process.run()
    }

    /// Returns when the load has ended.
    func result() throws -> Load {
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("RESULT ") }) else {
            throw FailedProgram(command: ["wrk"], status: process.terminationStatus)
        }
        let numbers = line.split(separator: " ").dropFirst().compactMap { Double($0) }
        if numbers[1] > 0 { print("  \(Int(numbers[1])) requests were refused") }
        return Load(
            accepted: Int(numbers[0]), p50: "\((numbers[2] / 1000).readable) ms",
            p99: "\((numbers[3] / 1000).readable) ms", tail: numbers[3] / max(1, numbers[2]))
    }
}

extension Load {
    /// A script of the load generator that posts these bodies in turn, each of them payloads as lines.
    static func script(
        posting bodies: [String], in workspace: Workspace, named name: String = "load.lua"
    ) throws -> String {
        try workspace.write(
            """
            local bodies = { \(bodies.map { "[==[" + $0 + "]==]" }.joined(separator: ",\n")) }
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
            """, to: name)
    }
}
