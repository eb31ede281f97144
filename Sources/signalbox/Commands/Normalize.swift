import ArgumentParser
import Foundation
import SignalboxEgress
import SignalboxJSON
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
        let source = SourceName(source)
        var rejectList = try RejectList(path: rejects, several: inputs.paths.count > 1)
        var output = StandardOutput()
        try await ParallelReading(inputs: inputs).run { block, parser in
            NormalizedBlock(block, by: normalizer, as: Reception(from: source, at: Date()), with: parser)
        } consume: { input, block in
            output.write(block.lines)
            for rejection in block.rejections { try rejectList.add(rejection, in: input) }
        }
        output.flush()
        if rejectList.count > 0 { throw ExitCode.incomplete }
    }
}

/// What a block of payloads became: events as NDJSON, and what was rejected.
private struct NormalizedBlock: Sendable {
    private(set) var lines: [UInt8] = []
    private(set) var rejections: [Rejection] = []

    init(_ block: PayloadBlock, by normalizer: Normalizer, as reception: Reception, with parser: JSONParser) {
        block.read(by: normalizer, as: reception, with: parser) { result in
            switch result {
            case .success(let event):
                lines.append(contentsOf: event.body)
                lines.append(UInt8(ascii: "\n"))
            case .failure(let rejection): rejections.append(rejection)
            }
        }
    }
}

/// A normaliser for commands that need no queue.
struct NormalizerOptions {
    private let options: GatewayOptions

    init(_ options: GatewayOptions) { self.options = options }

    /// The config, or an empty one where nobody asked for any and there is none.
    func config() throws(ExitCode) -> GatewayConfig {
        if options.isConfigImplied, !FileManager.default.fileExists(atPath: options.configPath) {
            return GatewayConfig()
        }
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
