import Foundation

/// A misbehaving server on loopback: hangs, sends slowly, resets the connection, presents an expired certificate.
/// `Peer/peer.py` lists the modes.
package struct Peer: Sendable {
    package let port: Int
    private let process: RunningBinary

    /// A request as it arrived.
    package struct Request: Sendable, Decodable {
        /// The first line.
        package let line: String
        /// Names in lower case.
        package let headers: [String: String]
        package let body: String
        /// The client's port, the same for all requests of one connection; nil unless the test requested it.
        package let from: Int?
    }

    /// The next request. Waits for it until the server ends: give the test a time limit.
    package func next() async throws -> Request? {
        for await line in process.output.stream {
            return try JSONDecoder().decode(Request.self, from: Data(line.utf8))
        }
        return nil
    }

    /// Runs a server while `body` runs.
    package static func run<R>(
        _ arguments: [String], _ body: (Peer) async throws -> R
    ) async throws -> R {
        let program = String(decoding: PackageResources.peer_py, as: UTF8.self)
        let process = try RunningBinary(
            URL(fileURLWithPath: "/usr/bin/python3"), ["-c", program] + arguments)
        do {
            let result = try await body(Peer(port: try await port(of: process), process: process))
            await end(process)
            return result
        } catch {
            await end(process)
            throw error
        }
    }

    private static func port(of process: RunningBinary) async throws -> Int {
        for await line in process.output.stream { return Int(line) ?? 0 }
        throw PeerFailed(errors: await process.errors.text())
    }

    private static func end(_ process: RunningBinary) async {
        process.send(Data())
        _ = await process.end()
    }

    private struct PeerFailed: Error { let errors: String }
}

/// Certificates for servers on loopback: good ones by a test authority, and bad ones of every kind.
package struct TestCertificates: Sendable {
    private let directory: String

    /// Makes them in this directory.
    package init(in directory: String) async throws {
        self.directory = directory
        let script = String(decoding: PackageResources.certificates_sh, as: UTF8.self)
        let process = try RunningBinary(URL(fileURLWithPath: "/bin/sh"), ["-c", script, "certificates", directory])
        process.send(Data())
        guard await process.end() == 0 else { throw NotMade(errors: await process.errors.text()) }
    }

    /// The path of one of the files, such as `good.pem`.
    package func path(_ name: String) -> String { directory + "/" + name }

    /// The pin of the key that all servers use.
    package func serverPin() throws -> String {
        "sha256//" + (try String(contentsOfFile: path("server.pin"), encoding: .utf8))
    }

    private struct NotMade: Error { let errors: String }
}
