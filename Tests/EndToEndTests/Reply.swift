import Foundation
import SignalboxTesting
import Testing

/// A reply to curl.
struct Reply {
    let status: Int
    let headers: [String: String]
    let body: [UInt8]

    init(_ url: String, _ arguments: String...) async throws { try await self.init(url, arguments) }

    init(_ url: String, _ arguments: [String]) async throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
        process.arguments = ["--silent", "--include", "--max-time", "30", "--noproxy", "*"] + arguments + [url]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let end = try #require(data.range(of: Data("\r\n\r\n".utf8)))
        let lines = String(decoding: data[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
        status = try #require(lines.first.flatMap { Int($0.split(separator: " ")[1]) })
        headers = Dictionary(
            lines.dropFirst().map { line in
                let parts = line.split(separator: ":", maxSplits: 1)
                return (parts[0].lowercased(), parts.count > 1 ? parts[1].drop { $0 == " " }.description : "")
            }
        ) { $1 }
        body = Array(data[end.upperBound...])
        try AnswerRecorder.record(
            Self.method(arguments), url, status: status, type: headers["content-type"], body: body)
    }

    /// The method that curl uses with these arguments.
    private static func method(_ arguments: [String]) -> String {
        for (option, value) in zip(arguments, arguments.dropFirst()) where ["-X", "--request"].contains(option) {
            return value
        }
        if arguments.contains("--head") || arguments.contains("-I") { return "HEAD" }
        if arguments.contains("-T") || arguments.contains("--upload-file") { return "PUT" }
        return arguments.contains { $0 == "-d" || $0.hasPrefix("--data") } ? "POST" : "GET"
    }
}
