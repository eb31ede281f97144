import Foundation

/// The cost of the console: of the live view and its readers under load, of lists over a million deliveries, and the
/// size of its files. Everything that is compared is measured in pairs, in turn.
struct ConsoleBench {
    let binary: String
    let workspace: Workspace
    let payloads: Payloads
    let table: Table

    private static let (connections, seconds, pairs, readers) = (128, 4, 7, 8)

    func run() async throws {
        table.section(
            "Console: \(Self.connections) connections, \(Self.pairs) pairs of \(Self.seconds) s in turn, on the same cores"
        )
        let texts = payloads.mixed.prefix(200).map { String(decoding: $0, as: UTF8.self).replacing("\n", with: " ") }
        let script = try Load.script(posting: texts, in: workspace)
        try await compareWithBefore(script)
        try compareReaders(script)
        try compareMemory()
        try ConsoleListBench(binary: binary, workspace: workspace, payloads: payloads, table: table).run()
    }

    // MARK: Pairs

    /// Accepts of this build and of an earlier one, without a reader.
    private func compareWithBefore(_ script: String) async throws {
        try await BeforeBench(binary: binary, table: table).row(
            "accepts without a reader, to the build before", pairs: Self.pairs
        ) { binary, data in
            let gateway = try start(binary, "unread-\(data)")
            defer { gateway.stop() }
            return try rate(of: gateway, script)
        }
    }

    /// Accepts with eight readers of the stream, and without any, on one gateway.
    private func compareReaders(_ script: String) throws {
        let gateway = try start(binary, "readers")
        defer { gateway.stop() }
        _ = try rate(of: gateway, script)
        var (ratios, rates): ([Double], [Double]) = ([], [])
        for _ in 0..<Self.pairs {
            let alone = try rate(of: gateway, script)
            let readers = try (0..<Self.readers).map { _ in
                try Program(["curl", "--silent", "--no-buffer", gateway.url + "/v1/stream"])
            }
            defer { for reader in readers { reader.stop() } }
            let read = try rate(of: gateway, script)
            ratios.append(read / alone)
            rates.append(read)
        }
        table.row("accepts with \(Self.readers) readers", "\(median(rates).readable) events a second")
        table.row("to no reader", "\(BeforeBench.words(ratios)) (at least 0.97)")
    }

    /// The memory of the ring and of readers that do not read: the difference to a gateway without a ring and without
    /// readers after the same load. Payloads have nearly the largest size that the ring keeps.
    private func compareMemory() throws {
        let padding = String(repeating: "0123456789", count: 1500)
        let bodies = (0..<20).map { #"{"aps":{"alert":{"title":"Title \#($0)","body":"Body"}},"pad":"\#(padding)"}"# }
        let script = try Load.script(posting: bodies, in: workspace)
        var differences: [Double] = []
        for pair in 0..<3 {
            let memory = try [0, 1000].map { recent in
                let gateway = try start(binary, "memory-\(pair)-\(recent)", recent: recent)
                defer { gateway.stop() }
                let readers = recent == 0 ? nil : try StalledReaders(Self.readers, of: gateway.url)
                defer { readers?.close() }
                // Longer than the ring needs to fill: it takes 200 events a second.
                _ = try Load.run(script: script, connections: 32, seconds: 8, url: gateway.url)
                return gateway.memoryMB
            }
            differences.append(memory[1] - memory[0])
        }
        table.row(
            "ring and \(Self.readers) stalled readers", "\(median(differences).readable) MiB (at most 48)")
    }

    // MARK: Parts

    /// A gateway whose only destination is paused, so every event has a delivery.
    private func start(_ binary: String, _ data: String, recent: Int? = nil) throws -> GatewayProcess {
        let console = recent.map { #""console": { "recent": \#($0) },"# } ?? ""
        let gateway = try GatewayProcess(
            binary: binary, workspace: workspace, data: data,
            config: """
                { "egress": { "allow": ["127.0.0.0/8"] }, \(console)
                  "destinations": { "crm": { "url": "http://127.0.0.1:9/", "secret": "env:WEBHOOK_SECRET" } },
                  "routes": [ { "name": "everything", "match": {}, "to": ["crm"] } ] }
                """)
        try gateway.post("/v1/destinations/crm/pause")
        return gateway
    }

    /// Accepted events in a second.
    private func rate(of gateway: GatewayProcess, _ script: String) throws -> Double {
        let load = try Load.run(
            script: script, connections: Self.connections, seconds: Self.seconds, url: gateway.url)
        return Double(load.accepted) / Double(Self.seconds)
    }
}

/// Clients that request the stream and do not read it.
private struct StalledReaders {
    private let descriptors: [Int32]

    /// `url`: of a gateway on 127.0.0.1. Small buffers, so that the streams stall at once.
    init(_ count: Int, of url: String) throws {
        guard let port = url.split(separator: ":").last.flatMap({ UInt16($0) }) else {
            throw FailedProgram(command: ["connect"], status: 1)
        }
        let request = Array("GET /v1/stream HTTP/1.1\r\nhost: 127.0.0.1:\(port)\r\n\r\n".utf8)
        descriptors = try (0..<count).map { _ in
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var size: Int32 = 4096
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
            let isConnected = withUnsafePointer(to: &address) { address in
                address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            guard isConnected, write(descriptor, request, request.count) == request.count else {
                throw FailedProgram(command: ["connect"], status: errno)
            }
            return descriptor
        }
    }

    func close() { for descriptor in descriptors { Glibc.close(descriptor) } }
}
