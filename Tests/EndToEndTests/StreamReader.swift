import Foundation
import SignalboxServerTesting
import Testing

/// A reader of `GET /v1/stream`, by curl.
struct StreamReader: Sendable {
    private let process: RunningBinary

    /// One block of server-sent events.
    struct Frame: Sendable {
        var id: String?
        var event: String?
        var data = ""

        /// The members of the data.
        var json: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(data.utf8))) as? [String: Any] ?? [:]
        }
    }

    /// Returns once the gateway has opened the stream. `id`: of the last frame of an earlier stream.
    static func open(
        _ gateway: Gateway, _ query: String = "", token: String? = nil, after id: String? = nil
    ) async throws -> (reader: StreamReader, first: Frame) {
        var arguments = ["--silent", "--no-buffer", "--fail", "--noproxy", "*"]
        if let token { arguments += ["--header", "authorization: Bearer \(token)"] }
        if let id { arguments += ["--header", "last-event-id: \(id)"] }
        let reader = StreamReader(
            process: try RunningBinary(
                URL(fileURLWithPath: "/usr/bin/curl"), arguments + [gateway.url + "/v1/stream" + query]))
        return (reader, try #require(await reader.next()))
    }

    /// The next block; nil at the end of the stream.
    func next() async -> Frame? {
        var frame = Frame()
        for await line in process.output.stream {
            if line.isEmpty { return frame }
            if line.hasPrefix("id: ") { frame.id = String(line.dropFirst(4)) }
            if line.hasPrefix("event: ") { frame.event = String(line.dropFirst(7)) }
            if line.hasPrefix("data: ") { frame.data = String(line.dropFirst(6)) }
        }
        return nil
    }

    /// The next frame of a kind; skips all others.
    func next(_ event: String) async -> Frame? {
        while let frame = await next() {
            if frame.event == event { return frame }
        }
        return nil
    }

    /// Reads to the end of the stream. Returns curl's exit code: 0 if the response ended as a whole.
    func end() async -> Int32 {
        while await next() != nil {}
        return await process.end()
    }

    /// Cuts the connection.
    func cut() async {
        process.signal(SIGKILL)
        _ = await process.end()
    }
}
