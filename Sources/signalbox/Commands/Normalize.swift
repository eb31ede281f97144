import ArgumentParser
import Foundation
import SignalboxEgress
import SignalboxModel
import SignalboxPipeline
import SignalboxRouting
import SignalboxStore

struct Normalize: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Turn payloads into events, one a line: no network, no queue.",
        discussion: """
            Reads NDJSON, a JSON array, or JSON texts that follow one another. Device tokens are replaced by their hash \
            under the key in --data-dir; without it, under a key that lasts as long as the run.
            """)

    @Argument(help: "Files to read; - or nothing is standard input.", completion: .file())
    var files: [String] = []

    @OptionGroup var options: GatewayOptions

    @Option(help: "Name of the source that stands in the events.")
    var source = SourceName.default.name

    @Option(help: "Write what was rejected to this file, as NDJSON.", completion: .file())
    var rejects: String?

    func run() async throws {
        let normalizer = try NormalizerOptions(options).makeNormalizer()
        let inputs = InputFiles(files)
        var rejectList = try RejectList(path: rejects, several: inputs.paths.count > 1)
        var output = StandardOutput()
        let parser = Normalizer.makeParser()
        try await inputs.forEach { name, read in
            var reader = PayloadReader(normalizer: normalizer, source: SourceName(source), parser: parser)
            var hasMore = true
            while hasMore {
                hasMore = try read { $0.isEmpty ? reader.finish() : reader.append($0) }
                let now = Date()
                while let result = reader.next(receivedAt: now) {
                    switch result {
                    case .success(let event): output.line(event.body)
                    case .failure(let rejection): try rejectList.add(rejection, in: name)
                    }
                }
            }
        }
        output.flush()
        if rejectList.count > 0 { throw ExitCode.incomplete }
    }
}

/// A normaliser for commands that need no queue.
struct NormalizerOptions {
    private let options: GatewayOptions

    init(_ options: GatewayOptions) { self.options = options }

    /// The config, or an empty one where nobody asked for any and there is none.
    func config() throws(ExitCode) -> GatewayConfig {
        if options.isConfigImplied, !FileManager.default.fileExists(atPath: options.configPath) { return GatewayConfig() }
        return try ConfigFile.load(options.configPath)
    }

    func makeNormalizer() throws(ExitCode) -> Normalizer {
        let config = try config()
        return Normalizer(
            chain: try ConfigFile.chain(config), gateway: config.gateway.name, tokens: TokenHash(key: tokenKey()))
    }

    private func tokenKey() -> [UInt8] {
        let kept = options.dataDir.flatMap { FileManager.default.contents(atPath: $0 + "/token.key") }
        return kept.map { Array($0) } ?? randomBytes(32)
    }
}
