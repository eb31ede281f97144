import ArgumentParser
import SignalboxCommands
import SignalboxConfig
import SignalboxGateway
import SignalboxNotification
import SignalboxRouting

/// Exits with 1 when any payload was rejected. Events of the others are still printed. Media have the status `pending`,
/// as in the gateway before their download.
struct Normalize: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "normalize", abstract: "Turn payloads into events, one per line, without network or queue.",
        discussion: """
            Reads NDJSON, a JSON array, or concatenated JSON texts, plain or compressed by gzip or zstd; --payload-at \
            finds payloads in recordings of other tools. Device tokens are replaced by their hash under the gateway's \
            key in --data-dir, or in the database of --store. Without a key, a random one is used for this run.
            """)

    /// Read in this order, one at a time. Empty: standard input.
    @Argument(help: "Files to read; - or nothing is standard input.", completion: .file())
    var files: [String] = []

    /// The config is optional. It adds vendors, fixes the vendor of a source, and names the gateway in each event's
    /// `source`.
    @OptionGroup var options: GatewayOptions
    /// Positions of payload, time and token within each recorded text.
    @OptionGroup var envelope: EnvelopeOptions

    /// Decides which routes match, and the vendor if the config gives that source one. Need not be in the config.
    @Option(help: "Name of the source in the events.", transform: { try SourceName(argument: $0) })
    var source = SourceName.default

    /// Replaced when the run begins. Nil: the reasons appear on standard error only. Each line has `line`, `offset`,
    /// `code`, `message` and `input`.
    @Option(help: "Write rejected payloads to this file, as NDJSON.", completion: .file())
    var rejects: String?

    /// Rejects a file of rejections that is also an input or the config, which the run would overwrite. Called by
    /// ArgumentParser before ``run()``.
    func validate() throws {
        guard let rejects else { return }
        let conflict = FileIdentity.conflict(of: "--rejects", rejects, inputs: files, config: options.configPath)
        if let conflict { throw ValidationError(conflict) }
    }

    /// Writes events in the order of their payloads. Memory does not grow with the input. A file that cannot be
    /// opened ends the run, after the events before it. A closed pipe ends the process, as with other filters.
    func run() async throws {
        let config = try options.optionalConfig().config
        let normalization = Normalization(
            by: try options.normalizer(for: config, mediaStatus: .pending), from: source,
            vendor: config.sourceVendors[source], envelope: envelope.recorded)
        StandardError.announceInput(files, of: "payloads")
        var output = StandardOutput()
        // Events are printed however the run ends.
        defer { output.flush() }
        let rejected = try await normalization.run(
            InputFiles(files), rejects: rejects, diagnostics: .standardError
        ) { output.write($0) }
        if rejected > 0 { throw ExitCode.incomplete }
    }
}
