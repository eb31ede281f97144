import Foundation

/// The provider endpoints: durable pushes over HTTP/2 against payloads over the API, idle connections, TLS handshakes.
/// Load generators (h2load, wrk, openssl) run on the same machine.
struct WaysInBench {
    let binary: String
    let workspace: Workspace
    let payloads: Payloads
    let table: Table

    private static let seconds = 8
    private static let streams = 1000
    private static let idleConnections = 10_000
    private static let token = String(repeating: "0a1b2c3d", count: 8)

    func run() throws {
        table.section("Ways in: h2load with \(Self.streams) streams a connection, \(Self.seconds) s, on the same cores")
        let body = payloads.typical(with: "\"aps\"")
        let file = try workspace.write(String(decoding: body, as: UTF8.self), to: "push.json")
        let api = try measure("POST /v1/notifications") { gateway in
            try H2Load.run(
                ["--h1", "-c128", "-m1", "-H", "content-type: application/json"], file, workspace,
                gateway.url + "/v1/notifications")
        }
        for connections in [1, 8] {
            let push = try measure("APNs, \(connections) connections") { gateway in
                try H2Load.run(
                    ["-c\(connections)", "-m\(Self.streams)", "-H", "apns-topic: com.example.app"], file, workspace,
                    try gateway.providerURL() + "/3/device/" + Self.token)
            }
            table.row("to POST /v1/notifications", "\((push.rate / api.rate).readable) times (at least 0.8)")
            table.row("p99 to p50", "\((push.p99 / push.p50).readable) times (at most 4)")
        }
        try idle()
        try handshakes()
    }

    /// Each measurement has a gateway of its own, with a paused destination, so every event has a delivery.
    private func measure(_ what: String, _ load: (GatewayProcess) throws -> H2Load) throws -> H2Load {
        let gateway = try start("ways-in-\(what.filter(\.isLetter))-\(what.filter(\.isNumber))")
        defer { gateway.stop() }
        try gateway.post("/v1/destinations/crm/pause")
        let result = try load(gateway)
        table.row(
            what,
            "\(result.rate.readable) a second, p50 \(result.p50.readable) ms, p99 \(result.p99.readable) ms, \(Int(gateway.peakMB)) MB"
        )
        return result
    }

    private func start(_ data: String, tls: String = "") throws -> GatewayProcess {
        try GatewayProcess(
            binary: binary, workspace: workspace, data: data,
            config: """
                { "egress": { "allow": ["127.0.0.0/8"] },
                  "gateway": { "listen": { "apns": "127.0.0.1:0" \(tls) } },
                  "destinations": { "crm": { "url": "http://127.0.0.1:9/", "secret": "env:WEBHOOK_SECRET" } },
                  "routes": [ { "name": "everything", "match": {}, "to": ["crm"] } ] }
                """)
    }

    // MARK: Idle connections

    /// Connections that have exchanged settings, without TLS. A gateway gives each of its two listeners a quarter of
    /// its open files, so two gateways share them if the limit is 20,000. Counts those that are still open at the end:
    /// beyond its limits, a gateway closes one idle connection for each new one.
    private func idle() throws {
        let most = OpenFiles.raisedLimit() / 4
        let count = (Self.idleConnections + most - 1) / most
        let gateways = try (0..<count).map { try start("ways-in-idle-\($0)") }
        defer { for gateway in gateways { gateway.stop() } }
        let ports = try gateways.map { try $0.providerURL().split(separator: ":").last.flatMap { UInt16($0) } ?? 0 }
        let before = gateways.map(\.memoryMB).reduce(0, +)
        let clients = try IdleClients(count: Self.idleConnections, ports: ports)
        defer { clients.close() }
        let grown = gateways.map(\.memoryMB).reduce(0, +) - before
        let open = clients.countOpen()
        table.row(
            "\(open) idle connections, in \(count) gateways",
            "\((grown * 1024 / Double(open)).readable) kB each (at most 20)")
    }

    // MARK: Handshakes

    /// New connections of `openssl s_time`, against the gateway and against `openssl s_server` with the same
    /// certificate.
    private func handshakes() throws {
        try Program.run([binary, "certs", "new", "--directory", workspace.file("certs")])
        let (certificate, key) = (workspace.file("certs/server.crt"), workspace.file("certs/server.key"))
        let server = try Program([
            "openssl", "s_server", "-accept", "28443", "-cert", certificate, "-key", key, "-quiet",
        ])
        defer { server.stop() }
        let gateway = try start(
            "ways-in-tls", tls: #", "tls": { "certificate": "file:\#(certificate)", "key": "file:\#(key)" }"#)
        defer { gateway.stop() }
        try gateway.post("/v1/destinations/crm/pause")
        let address = try gateway.providerURL().replacing("https://", with: "")
        let own = try handshakes(with: address)
        let pushes = try pushes(to: address)
        let reference = try handshakes(with: "127.0.0.1:28443")
        table.row("TLS handshakes of openssl s_server", "\(reference.readable) a second")
        table.row("TLS handshakes", "\(own.readable) a second, \((own / reference).readable) times")
        table.row(
            "TLS connections with a durable push each",
            "\(pushes.readable) a second, \((pushes / reference).readable) times (at least 0.5)")
    }

    /// Connects, pushes once, waits for the response and closes, one connection after the other, as `openssl s_time`
    /// does without the push. Header fields are literal (RFC 7541, 6.2.2).
    private static let pusher = """
        import socket, ssl, sys, time
        host, port = sys.argv[1].split(":")
        body = open(sys.argv[3], "rb").read()
        field = lambda name, value: bytes([0, len(name)]) + name + bytes([len(value)]) + value
        path = b"/3/device/" + sys.argv[2].encode()
        # :method POST and :scheme https by their numbers in the static table.
        head = b"\\x83\\x87" + field(b":path", path) + field(b":authority", b"localhost")
        head += field(b"apns-topic", b"com.example.app")
        frame = lambda kind, flags, stream, data: (
            len(data).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + data)
        request = b"PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n" + frame(4, 0, 0, b"")
        request += frame(1, 4, 1, head) + frame(0, 1, 1, body)
        # HEADERS with END_STREAM of the first request, and the number of :status 200.
        answer = bytes([1, 5, 0, 0, 0, 1, 0x88])
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(["h2"])
        count, end = 0, time.monotonic() + 5
        while time.monotonic() < end:
            plain = socket.socket()
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            plain.connect((host, int(port)))
            with context.wrap_socket(plain) as connection:
                connection.sendall(request)
                received = b""
                while answer not in received:
                    piece = connection.recv(16384)
                    if not piece:
                        sys.exit("The gateway closed the connection.")
                    received += piece
            count += 1
        print(count / 5)
        """

    /// New connections in a second, each with one push.
    private func pushes(to address: String) throws -> Double {
        let script = try workspace.write(Self.pusher, to: "pusher.py")
        let payload = #"{"aps":{"alert":{"title":"Hello","body":"It is on its way"}}}"#
        let body = try workspace.write(payload, to: "one.json")
        let text = try Program.run(["python3", script, address, Self.token, body])
        guard let rate = Double(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw FailedProgram(command: ["python3", script], status: 0)
        }
        return rate
    }

    private func handshakes(with address: String) throws -> Double {
        let text = try Program.run(["openssl", "s_time", "-connect", address, "-new", "-time", "5"])
        // "1234 connections in 6 real seconds, 0 bytes read per connection"
        guard let line = text.split(separator: "\n").last(where: { $0.contains("real seconds") }) else {
            throw FailedProgram(command: ["openssl", "s_time"], status: 0)
        }
        let numbers = line.split(separator: " ").compactMap { Double($0) }
        return numbers[0] / numbers[1]
    }
}

/// The results of h2load.
struct H2Load {
    /// Successful requests in a second.
    let rate: Double
    /// Milliseconds.
    let p50: Double
    let p99: Double

    static func run(_ options: [String], _ body: String, _ workspace: Workspace, _ url: String) throws -> H2Load {
        let log = workspace.file("h2load.log")
        try? FileManager.default.removeItem(atPath: log)
        let seconds = 8
        let text = try Program.run(
            ["h2load", "-t1", "-D\(seconds)", "-d", body, "--log-file=\(log)"] + options + [url])
        guard text.contains(" succeeded") else { throw FailedProgram(command: ["h2load"], status: 1) }
        // A line for each request: start, status, microseconds.
        var times: [Double] = []
        var refused = 0
        for line in try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n") {
            let fields = line.split(separator: "\t")
            guard fields.count >= 3, let time = Double(fields[2]) else { continue }
            if fields[1].hasPrefix("2") { times.append(time / 1000) } else { refused += 1 }
        }
        if refused > 0 { print("  \(refused) requests were refused") }
        guard !times.isEmpty else { throw FailedProgram(command: ["h2load"], status: 1) }
        times.sort()
        return H2Load(
            rate: Double(times.count) / Double(seconds), p50: times[times.count / 2], p99: times[times.count * 99 / 100]
        )
    }
}

/// The limit on open files, which the gateway inherits.
private enum OpenFiles {
    /// Raises it as far as the system allows, and returns it.
    static func raisedLimit() -> Int {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return Int(clamping: limit.rlim_max)
    }
}

/// Connections of HTTP/2 that say no more than the preface.
private struct IdleClients {
    private var descriptors: [Int32] = []

    /// Connects to the ports in turn, from several addresses: a gateway gives one address half of its connections.
    /// Returns when a gateway has sent its settings on each connection.
    init(count: Int, ports: [UInt16]) throws {
        let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0]
        for number in 0..<count {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            descriptors.append(descriptor)
            let own = Self.address(last: UInt32(2 + number / ports.count % 4), port: 0)
            let isConnected =
                Self.with(own) { bind(descriptor, $0, $1) == 0 }
                && Self.with(Self.address(last: 1, port: ports[number % ports.count])) {
                    connect(descriptor, $0, $1) == 0
                }
            var settings = [UInt8](repeating: 0, count: 64)
            guard isConnected, write(descriptor, preface, preface.count) == preface.count,
                read(descriptor, &settings, settings.count) > 0
            else { throw FailedProgram(command: ["connect"], status: errno) }
        }
    }

    /// 127.0.0.`last`.
    private static func address(last: UInt32, port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0000 + last).bigEndian
        return address
    }

    private static func with<R>(_ address: sockaddr_in, _ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
        withUnsafePointer(to: address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// The connections that the gateways have not closed.
    func countOpen() -> Int {
        descriptors.count { descriptor in
            var bytes = [UInt8](repeating: 0, count: 256)
            var received = 0
            repeat { received = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT)) } while received > 0
            return received < 0 && errno == EAGAIN
        }
    }

    func close() { for descriptor in descriptors { Glibc.close(descriptor) } }
}

/// Another program.
final class Program {
    // A class because it owns a process.
    private let process = Process()

    /// Starts it; its output is discarded.
    init(_ command: [String], output: Pipe? = nil) throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        process.standardOutput = output ?? FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
    }

    /// Returns the output of a program that ends by itself.
    @discardableResult
    static func run(_ command: [String]) throws -> String {
        let output = Pipe()
        let program = try Program(command, output: output)
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        program.process.waitUntilExit()
        guard program.process.terminationStatus == 0 else {
            throw FailedProgram(command: command, status: program.process.terminationStatus)
        }
        return text
    }

    func stop() {
        process.terminate()
        process.waitUntilExit()
    }
}
