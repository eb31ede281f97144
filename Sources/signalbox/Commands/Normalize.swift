import ArgumentParser
import Foundation
import SignalboxConfig
import SignalboxEgress
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxRouting
import SignalboxStore
import Synchronization

struct Normalize: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Turn payloads into events, one a line: no network, no queue.",
        discussion: """
            Reads NDJSON, a JSON array, or JSON texts that follow one another, also compressed by gzip or zstd; \
            --payload-at finds payloads in what another tool logged. Device tokens are replaced by their hash under the \
            gateway's key in --data-dir, or where there is none, under a key that lasts as long as the run.
            """)

    @Argument(help: "Files to read; - or nothing is standard input.", completion: .file())
    var files: [String] = []

    @OptionGroup var options: GatewayOptions
    @OptionGroup var envelope: EnvelopeOptions

    @Option(help: "Name of the source that stands in the events.", transform: { try SourceName(argument: $0) })
    var source = SourceName.default

    @Option(help: "Write what was rejected to this file, as NDJSON.", completion: .file())
    var rejects: String?

    func validate() throws {
        if let rejects,
            let sentence = FilePlace.misuse(of: "--rejects", rejects, inputs: files, config: options.configPath)
        {
            throw ValidationError(sentence)
        }
    }

    func run() async throws {
        let normalizer = try NormalizerOptions(options).makeNormalizer(mediaStatus: .pending)
        let inputs = InputFiles(files)
        let source = source
        let vendor = try NormalizerOptions(options).config().sourceVendors[source]
        var rejectList = try RejectList(path: rejects, several: inputs.paths.count > 1)
        var output = StandardOutput()
        let buffers = LineBuffers()
        // What was read is told, however it ends.
        defer { output.flush() }
        let envelope = envelope.recorded
        try await ParallelReading(inputs: inputs).run { block, parser in
            NormalizedBlock(
                block.payloads, by: normalizer, as: Reception(from: source, at: Date(), vendor: vendor),
                in: envelope, with: parser, into: buffers.take())
        } consume: { block, normalized in
            normalized.lines.writer.withLock { $0.withBytes { output.write($0) } }
            buffers.giveBack(normalized.lines)
            for rejection in normalized.rejections { try rejectList.add(rejection, in: block.name) }
        }
        if rejectList.count > 0 { throw ExitCode.incomplete }
    }
}

/// What a block of payloads became: events as NDJSON, and what was rejected.
private struct NormalizedBlock: Sendable {
    let lines: LineBuffers.Buffer
    let rejections: [Rejection]

    init(
        _ block: PayloadBlock, by normalizer: Normalizer, as reception: Reception, in envelope: RecordedEnvelope,
        with parser: JSONParser, into lines: LineBuffers.Buffer
    ) {
        var rejections: [Rejection] = []
        lines.writer.withLock { writer in
            block.read(by: normalizer, as: reception, in: envelope, with: parser, into: &writer) {
                rejections.append($0)
            }
        }
        self.lines = lines
        self.rejections = rejections
    }
}

/// Lends memory for lines, which is used again and again: fresh memory costs the kernel more than writing into it
/// costs us.
private final class LineBuffers: Sendable {
    /// A class because what it owns goes from worker to output and back.
    final class Buffer: Sendable {
        let writer = Mutex(JSONWriter())
    }

    private let idle = Mutex<[Buffer]>([])

    func take() -> Buffer { idle.withLock { $0.popLast() } ?? Buffer() }

    func giveBack(_ buffer: Buffer) {
        buffer.writer.withLock { $0.removeAll() }
        idle.withLock { $0.append(buffer) }
    }
}

/// A normaliser for commands that need no queue.
struct NormalizerOptions {
    private let options: GatewayOptions

    init(_ options: GatewayOptions) { self.options = options }

    /// The config, or an empty one where nobody asked for any and there is none.
    func loaded() throws(ExitCode) -> RoutedConfig {
        if options.isConfigImplied, !FileManager.default.fileExists(atPath: options.configPath) {
            return RoutedConfig()
        }
        return try options.loadConfig()
    }

    func config() throws(ExitCode) -> GatewayConfig { try loaded().config }

    /// `mediaStatus`: what events say of their files, none of which is downloaded here. Where routes decide it must be what
    /// they see in the gateway.
    func makeNormalizer(mediaStatus: Media.Status = .skipped) throws(ExitCode) -> Normalizer {
        let config = try config()
        let directory = options.dataDirectory(file: config.gateway.dataDirectory)
        let chain = try orRefuse { () throws(ConfigRefusal) in try ConfigFile.chain(config) }
        return Normalizer(
            chain: chain, gateway: config.gateway.name,
            tokens: TokenHash(key: Self.tokenKey(in: directory)), mediaStatus: mediaStatus, actions: config.actions,
            categories: config.categories.statics)
    }

    /// The gateway's own key where there is one, so that tokens get the same names here; else one for this run.
    private static func tokenKey(in directory: String) -> [UInt8] {
        FileManager.default.contents(atPath: directory + "/token.key").map { Array($0) } ?? randomBytes(32)
    }
}
