import Foundation

/// A misbehaving server on loopback: hangs, sends slowly, resets the connection, presents an expired certificate.
/// `Peer/peer.py` lists the modes. Needs Python 3.
package struct Peer: Sendable {
    /// On 127.0.0.1, chosen by the system.
    package let port: Int
    private let process: RunningBinary

    /// A request as it arrived. The server prints it as a line of JSON.
    package struct Request: Sendable, Decodable {
        /// The first line.
        package let line: String
        /// Names in lower case.
        package let headers: [String: String]
        /// One character for each byte (ISO 8859-1).
        package let body: String
        /// The client's port, the same for all requests of one connection; nil unless the test requested it.
        package let from: Int?
    }

    /// The next request. Requests are kept in the order of their arrival.
    package func next() async throws -> Request? {
        for await line in process.output.stream {
            return try JSONDecoder().decode(Request.self, from: Data(line.utf8))
        }
        return nil
    }

    /// Runs a server while `body` runs. Throws if the server does not start, and rethrows the error of `body`. The
    /// server has ended when this returns.
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

    /// The first line that the server prints.
    private static func port(of process: RunningBinary) async throws -> Int {
        for await line in process.output.stream { return Int(line) ?? 0 }
        throw PeerFailed(errors: await process.errors.text())
    }

    /// The server ends when its standard input is closed.
    private static func end(_ process: RunningBinary) async {
        process.send(Data())
        _ = await process.end()
    }

    /// `errors`: the server's standard error.
    private struct PeerFailed: Error { let errors: String }
}

/// Certificates for servers on loopback: good ones by a test authority, and bad ones of every kind. Made by the
/// `openssl` command with short validity; they are never committed.
package struct TestCertificates: Sendable {
    /// The caller removes it.
    private let directory: String

    /// Makes them in this directory. Throws with the output of the script if it fails.
    package init(in directory: String) async throws {
        self.directory = directory
        let script = String(decoding: PackageResources.certificates_sh, as: UTF8.self)
        let process = try RunningBinary(URL(fileURLWithPath: "/bin/sh"), ["-c", script, "certificates", directory])
        process.send(Data())
        guard await process.end() == 0 else { throw NotMade(errors: await process.errors.text()) }
    }

    /// The path of one of the files, such as `good.pem`. `Peer/certificates.sh` lists the names. Does not check that
    /// the file exists.
    package func path(_ name: String) -> String { directory + "/" + name }

    /// The pin of the key that all servers use. In curl's form of a pinned public key.
    package func serverPin() throws -> String {
        "sha256//" + (try String(contentsOfFile: path("server.pin"), encoding: .utf8))
    }

    /// `errors`: the script's standard error.
    private struct NotMade: Error { let errors: String }
}
