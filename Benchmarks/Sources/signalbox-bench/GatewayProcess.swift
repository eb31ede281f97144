import Foundation

/// A gateway started for a measurement.
final class GatewayProcess {
    // A class because it owns a process.
    private let process = Process()
    let url: String
    private let errors = Pipe()
    /// The text on standard error.
    private var text = ""

    /// `data`: the name of its data directory. `store`: the URL of a database; nil for SQLite in that directory.
    init(binary: String, workspace: Workspace, data: String, config: String, store: String? = nil) throws {
        let config = try workspace.write(config, to: "routes.json")
        process.executableURL = URL(fileURLWithPath: binary)
        process.arguments = [
            "serve", "--config", config, "--listen", "127.0.0.1:0", "--data-dir", workspace.file(data),
        ]
        if let store { process.arguments?.append(contentsOf: ["--store", store]) }
        process.environment = ProcessInfo.processInfo.environment.merging([
            "WEBHOOK_SECRET": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        ]) { $1 }
        process.standardError = errors
        try process.run()
        while !text.contains("\n"), case let piece = errors.fileHandleForReading.availableData, !piece.isEmpty {
            text += String(decoding: piece, as: UTF8.self)
        }
        guard let start = text.range(of: "http://") else { throw FailedProgram(command: [binary, "serve"], status: 1) }
        url = String(text[start.lowerBound...].prefix { !$0.isWhitespace })
    }

    /// The URL of the provider endpoints. Waits until the gateway has printed it.
    func providerURL() throws -> String {
        let mark = "provider endpoints on "
        while !text.contains(mark), case let piece = errors.fileHandleForReading.availableData, !piece.isEmpty {
            text += String(decoding: piece, as: UTF8.self)
        }
        guard let start = text.range(of: mark) else { throw FailedProgram(command: ["serve"], status: 1) }
        return String(text[start.upperBound...].prefix { !$0.isWhitespace })
    }

    /// Sends a request and waits for its answer.
    func post(_ path: String, _ body: String = "", method: String = "POST") throws {
        let curl = Process()
        let input = Pipe()
        curl.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        curl.arguments = [
            "curl", "--fail", "--silent", "--output", "/dev/null", "--request", method, "--data-binary", "@-",
            url + path,
        ]
        curl.standardInput = input
        try curl.run()
        try input.fileHandleForWriting.write(contentsOf: Data(body.utf8))
        try input.fileHandleForWriting.close()
        curl.waitUntilExit()
        guard curl.terminationStatus == 0 else {
            throw FailedProgram(command: ["curl"], status: curl.terminationStatus)
        }
    }

    /// Posts a payload on a new connection, without another process, and returns once it is accepted.
    func postDirectly(_ payload: String) throws {
        guard let port = url.split(separator: ":").last.flatMap({ UInt16($0) }) else {
            throw FailedProgram(command: ["connect", url], status: 1)
        }
        let connection = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(connection) }
        let isOpen = withLoopback(port: port) { connect(connection, $0, $1) == 0 }
        guard isOpen else { throw FailedProgram(command: ["connect", url], status: errno) }
        let request = """
            POST /v1/notifications HTTP/1.1\r
            host: 127.0.0.1\r
            content-type: application/json\r
            content-length: \(payload.utf8.count)\r
            \r
            \(payload)
            """
        let file = FileHandle(fileDescriptor: connection)
        try file.write(contentsOf: Data(request.utf8))
        let answer = String(decoding: file.availableData, as: UTF8.self)
        guard answer.hasPrefix("HTTP/1.1 202") else { throw FailedProgram(command: ["POST", url], status: 1) }
    }

    /// The body of the answer to a GET.
    func get(_ path: String) throws -> String {
        let (curl, output) = (Process(), Pipe())
        curl.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        curl.arguments = ["curl", "--fail", "--silent", url + path]
        curl.standardOutput = output
        try curl.run()
        let body = output.fileHandleForReading.readDataToEndOfFile()
        curl.waitUntilExit()
        guard curl.terminationStatus == 0 else {
            throw FailedProgram(command: ["curl"], status: curl.terminationStatus)
        }
        return String(decoding: body, as: UTF8.self)
    }

    /// The most memory it has had so far, by the kernel's account.
    var peakMB: Double { kernelsAccount("VmHWM:") }

    /// The resident memory now.
    var memoryMB: Double { kernelsAccount("VmRSS:") }

    private func kernelsAccount(_ name: String) -> Double {
        let status = (try? String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
        return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Double($0) } ?? 0) / 1024
    }

    func stop() {
        process.terminate()
        process.waitUntilExit()
    }
}

/// Calls `body` with the loopback address of a port, and its length.
private func withLoopback<T>(port: UInt16, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> T) -> T {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    return withUnsafeMutablePointer(to: &address) { address in
        address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
}

/// Takes connections and never answers.
final class SilentServer {
    // A class because it owns a socket.
    private let descriptor: Int32
    let url: String

    init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let port = withLoopback(port: 0) { address, length -> UInt16? in
            var length = length
            guard bind(descriptor, address, length) == 0, listen(descriptor, 1024) == 0,
                getsockname(descriptor, address, &length) == 0
            else { return nil }
            return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                UInt16(bigEndian: $0.pointee.sin_port)
            }
        }
        guard let port else { throw FailedProgram(command: ["listen"], status: errno) }
        self.descriptor = descriptor
        url = "http://127.0.0.1:\(port)/"
    }

    deinit { close(descriptor) }
}
