import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle
import Synchronization

/// A server on loopback that serves a different picture at every path and counts its requests. For benchmarks of
/// downloads: HTTP/1.1 by Hummingbird, without TLS.
public final class PictureServer: Sendable {
    // A class because connections and the benchmark share it.
    /// Relaxed order suffices: the benchmark reads it after its requests.
    private let asked = Atomic<Int>(0)
    /// The size of each response body, unless its header and name are longer.
    private let bytes: Int

    /// `bytes`: the size of each picture.
    public init(bytes: Int) { self.bytes = bytes }

    /// Requests so far. Counts every request to a path, including repeated requests.
    public var requests: Int { asked.load(ordering: .relaxed) }

    /// Serves while `body` runs, which receives the address without a path. Listens on a free port of 127.0.0.1 and
    /// stops before it returns. Throws errors of the server and of `body`.
    public func run<R: Sendable>(_ body: @Sendable @escaping (_ url: String) async throws -> R) async throws -> R {
        let (ports, listening) = AsyncStream.makeStream(of: Int.self)
        var logger = Logger(label: "pictures")
        logger.logLevel = .critical
        let router = Router()
        router.get("/{name}") { [self] _, context in
            asked.add(1, ordering: .relaxed)
            return Response(
                status: .ok, headers: [.contentType: "image/png"],
                body: ResponseBody(byteBuffer: picture(context.parameters.get("name") ?? "")))
        }
        let application = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in listening.yield(channel.localAddress?.port ?? 0) }, logger: logger)
        let group = ServiceGroup(services: [application], logger: logger)
        async let serving: Void = group.run()
        var iterator = ports.makeAsyncIterator()
        guard let port = await iterator.next() else { preconditionFailure("The server ended before it began.") }
        let result = try await body("http://127.0.0.1:\(port)")
        await group.triggerGracefulShutdown()
        try await serving
        return result
    }

    /// The header of a PNG file of 640 by 480 pixels, its name, and zeros: the gateway does not decode it. Each name
    /// has another digest. At least as long as its header and name.
    private func picture(_ name: String) -> ByteBuffer {
        let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        let header: [UInt8] =
            [0, 0, 0, 13] + Array("IHDR".utf8) + [0, 0, 2, 128, 0, 0, 1, 224, 8, 6, 0, 0, 0, 0, 0, 0, 0]
        var buffer = ByteBuffer(bytes: signature + header + Array(name.utf8))
        buffer.writeRepeatingByte(0, count: max(0, bytes - buffer.readableBytes))
        return buffer
    }
}
