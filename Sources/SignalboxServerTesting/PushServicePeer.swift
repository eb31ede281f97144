import Foundation

/// A push service over HTTP/2 on loopback. `Peer/push-service.py` describes its answers. Needs the test libraries of
/// `make test`.
package struct PushServicePeer: Sendable {
    /// On 127.0.0.1, chosen by the system.
    package let port: Int
    private let process: RunningBinary

    /// A request as it arrived.
    package struct Request: Sendable, Decodable {
        /// Counts the connections from 1 on.
        package let connection: Int
        package let method: String
        package let path: String
        package let authority: String?
        /// Name and value of each field, without pseudo-headers.
        package let headers: [[String]]
        /// One character for each byte (ISO 8859-1).
        package let body: String

        /// The value of the first field of this name.
        package func header(_ name: String) -> String? { headers.first { $0.first == name }?.last }
    }

    /// The next requests, in the order of their arrival. Waits for each at most ``WaitBound/time``.
    package func next(_ count: Int = 1) async throws -> [Request] {
        var requests: [Request] = []
        while requests.count < count {
            guard let line = await process.output.stream.first(where: { _ in true }) else { break }
            requests.append(try JSONDecoder().decode(Request.self, from: Data(line.utf8)))
        }
        return requests
    }

    /// Runs a server while `body` runs. It has ended when this returns.
    package static func run<R>(
        _ arguments: [String] = [], _ body: (PushServicePeer) async throws -> R
    ) async throws -> R {
        let program = String(decoding: PackageResources.push_service_py, as: UTF8.self)
        let root = (0..<3).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        let process = try RunningBinary(
            root.appendingPathComponent(".build/test-venv/bin/python"), ["-c", program] + arguments)
        guard let port = await process.output.stream.first(where: { _ in true }).flatMap({ Int($0) }) else {
            throw NotStarted(errors: await process.errors.text())
        }
        let result: Result<R, any Error>
        do {
            result = .success(try await body(PushServicePeer(port: port, process: process)))
        } catch {
            result = .failure(error)
        }
        process.send(Data())
        _ = await process.end()
        return try result.get()
    }

    /// `errors`: the server's standard error.
    private struct NotStarted: Error { let errors: String }
}
