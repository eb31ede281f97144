package import Foundation

/// A connection whose bytes a test chooses; an HTTP client sends valid requests only.
package enum RawConnection {
    /// Sends bytes in one write to a local server and returns the bytes that arrive until it closes. `endsInput`:
    /// true to close the sending side after them. Waits up to 60 s for each piece. Throws if the connection cannot be
    /// made.
    package static func exchange(_ bytes: Data, with url: String, endsInput: Bool) async throws -> String {
        let port = url.split(separator: ":").last.map { String($0.prefix { $0.isNumber }) } ?? ""
        let process = try RunningBinary(
            URL(fileURLWithPath: "/usr/bin/python3"), ["-c", script, port, endsInput ? "end" : "stay"])
        process.send(bytes)
        async let reply = process.output.text()
        async let errors = process.errors.text()
        guard await process.end() == 0 else { throw Failed(errors: await errors) }
        return await reply
    }

    /// Runs a Python program that opens connections to `port` of this machine, and `body` while it keeps them open.
    /// `body` runs once the program has reached its end. Throws if the program fails.
    package static func withClient(_ program: String, of url: String, _ body: () async throws -> Void) async throws {
        let port = url.split(separator: ":").last.map { String($0.prefix { $0.isNumber }) } ?? ""
        let start = "import socket, sys\nport = int(sys.argv[1])\n"
        let end = "\nprint('ready', flush=True)\nsys.stdin.read()"
        let process = try RunningBinary(
            URL(fileURLWithPath: "/usr/bin/python3"), ["-c", start + program + end, port])
        var isReady = false
        for await line in process.output.stream {
            isReady = line == "ready"
            break
        }
        if isReady { try await body() }
        process.send(Data())
        guard await process.end() == 0, isReady else { throw Failed(errors: await process.errors.text()) }
    }

    /// Reads the bytes to send from standard input, and writes the reply to standard output.
    private static let script =
        "import socket, sys\n" + """
            connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=60)
            connection.sendall(sys.stdin.buffer.read())
            if sys.argv[2] == "end":
                connection.shutdown(socket.SHUT_WR)
            while piece := connection.recv(65536):
                sys.stdout.buffer.write(piece)
            """

    /// `errors`: the program's standard error.
    private struct Failed: Error { let errors: String }
}
