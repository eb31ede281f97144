import ArgumentParser
import Foundation
import SignalboxCommands
import SignalboxConfig
import SignalboxGateway
import SignalboxNotification
import SignalboxRouting

/// Three modes: decisions only (`--dry-run`), upload to a gateway (`--to`), or delivery through the queue. Exits with
/// 130 after ^C, and with 1 when payloads were rejected or deliveries failed.
struct Replay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Send recorded payloads through the whole pipeline to the destinations.",
        discussion: """
            Reads NDJSON, a JSON array, or concatenated JSON texts, plain or compressed by gzip or zstd; --payload-at \
            finds payloads in recordings of other tools.

            Events go through the durable queue in --data-dir, which no gateway may be using. The run ends after every \
            delivery has been attempted; deliveries to retry later stay in the queue for the next replay or gateway. \
            With --to, payloads go to a running gateway instead, and the run ends after it has accepted all of them.

            With --resume, repeat the same command to continue a run that was interrupted or killed: no payload is \
            missed, and an event that is sent twice has the same id. Standard input must be fed from its beginning again.
            """)

    /// Read in this order, one at a time. Empty: standard input.
    @Argument(help: "Files to read; - or nothing is standard input.", completion: .file())
    var files: [String] = []

    /// `--dry-run` and delivery need a config. With `--to` it is optional.
    @OptionGroup var options: GatewayOptions

    /// Nil means the default source, or the source of the token with `--to`.
    @Option(
        help: "Name of the source in the events (default: default; with --to: the token's source).",
        transform: { try SourceName(argument: $0) })
    var source: SourceName?

    /// Positions of payload, time and token within each recorded text.
    @OptionGroup(title: "Recordings of other tools") var envelope: EnvelopeOptions
    /// Decides which payloads become events.
    @OptionGroup(title: "Selection") var selection: SelectionOptions
    /// Without `--to`, the queue of the data directory is used.
    @OptionGroup(title: "Running gateway") var upload: UploadOptions

    /// Needs neither a queue nor secrets.
    @Flag(help: "Print where each payload would be delivered; send and store no event.")
    var dryRun = false

    /// In the order of the input, with counters that begin at 0.
    @Flag(help: "Apply the failure rules of the config: reject the payloads that a rule answers with a failure.")
    var failures = false

    /// In events per second. Nil: as fast as the receiver accepts.
    @Option(
        help: ArgumentHelp("Maximum rate of events, such as 200/s or 60/m.", valueName: "n/s"),
        transform: argument({ ReplayText.rate($0) }) {
            "Invalid rate \($0): write a number from 0.001 to 1000000 and a unit, such as 200/s, 60/m or 1000/h."
        })
    var rate: Double?

    /// 1 is the recorded pace, so a recording of a day takes a day. Nil: without waits.
    @Option(
        help: ArgumentHelp("Multiple of the recorded pace; needs --time-at.", valueName: "factor"),
        transform: argument({ ReplayText.speed($0) }) {
            "Invalid speed \($0): write a factor from 0.001 to 1000000, such as 1, 10 or 0.5."
        })
    var speed: Double?

    /// Written after events are stored or accepted. A killed run repeats the events since the last write, with the
    /// same ids.
    @Option(help: "Checkpoint file: records progress; an existing one is resumed.", completion: .file())
    var resume: String?

    /// Also for the tables on standard error and for the built-in inbox. Other diagnostics stay text.
    @Flag(help: "Print decisions, events of the built-in inbox and the tables as JSON.")
    var json = false

    /// Errors and the table at the end are still printed.
    @Flag(help: "Do not show progress.")
    var quiet = false

    /// One JSON object for each rejected payload.
    @Option(help: "Write rejected payloads to this file, as NDJSON.", completion: .file())
    var rejects: String?

    /// Rejects options that exclude each other, before any file is opened.
    /// See ``ReplayOptions/conflict(config:hasDataDirectory:)``.
    func validate() throws {
        let conflict = request.conflict(config: options.configPath, hasDataDirectory: options.dataDir != nil)
        if let conflict { throw ValidationError(conflict) }
    }

    /// The options as SignalboxGateway expects them, without values of the config. Selections and times stay texts,
    /// which the run checks.
    private var request: ReplayOptions {
        var request = ReplayOptions()
        (request.files, request.source, request.envelope) = (files, source, envelope.recorded)
        (request.selection, request.address, request.isDryRun) = (selection.request, upload.to, dryRun)
        request.connections = upload.connections ?? request.connections
        (request.appliesFailures, request.rate, request.speed, request.resume) = (failures, rate, speed, resume)
        (request.rejects, request.printsJSON, request.showsProgress) = (rejects, json, !quiet)
        return request
    }

    /// Chooses the mode. The first ^C ends the run after payloads in flight; a second one ends the process at once.
    /// Throws ``ExitCode/interrupted`` in preference to ``ExitCode/incomplete``, so scripts can tell an interrupted
    /// run.
    func run() async throws {
        // A receiver that closes its connection must not end the run.
        if !dryRun { signal(SIGPIPE, SIG_IGN) }
        let interruption = Interruption(by: SIGINT)
        StandardError.announceInput(files, of: "payloads")
        let isIncomplete =
            if dryRun {
                try await decide(interruption)
            } else if let to = upload.to, let address = GatewayAddress(to, source: source) {
                try await send(to: address, interruption)
            } else {
                try await deliver(interruption)
            }
        if interruption.happened { throw ExitCode.interrupted }
        if isIncomplete { throw ExitCode.incomplete }
    }

    /// The inputs of the run, and its checkpoint if it has one. Throws ``ReplayError/refused(_:)`` for inputs that
    /// cannot be read and for a checkpoint of another run.
    private func session(_ interruption: Interruption) throws(ReplayError) -> ReplaySession {
        try ReplaySession(request, interruption: interruption, diagnostics: .standardError)
    }

    /// Throws for a selection that the config cannot satisfy, such as an unknown vendor. The values of the other
    /// selections were checked when the command line was parsed.
    private func check(_ config: RoutedConfig) throws {
        try selection.request.check(config.config)
        FilterCheck.warnings(about: selection.filter, vendors: Set(config.config.vendorNames))
            .forEach(StandardError.warn)
        if let note = request.note(on: config) { StandardError.write(note) }
    }

    /// Opens no queue. Returns whether the run is incomplete. Hashes tokens with the key of the database, or of the
    /// data directory if it has one. Reads no secrets of destinations.
    private func decide(_ interruption: Interruption) async throws -> Bool {
        let session = try session(interruption)
        let config = try options.loadConfig()
        try check(config)
        var output = StandardOutput()
        // Decisions are printed however the run ends.
        defer { output.flush() }
        let run = try DryRun(request, by: try options.normalizer(for: config.config), config, in: session)
        return try await run.run { output.write($0) }
    }

    /// The config is optional: it serves the selection only. Secrets of destinations are not read. Returns whether
    /// the run is incomplete. Throws ``CommandFailure`` for a token that cannot be read.
    private func send(to address: GatewayAddress, _ interruption: Interruption) async throws -> Bool {
        let token = try CommandToken.read(upload.token, option: "--token", variable: nil)
        let config = try options.optionalConfig()
        try check(config)
        let normalizer = try options.normalizer(for: config.config)
        let run = try GatewayReplay(
            request, to: address, token: token, by: normalizer, config, in: try session(interruption))
        return try await run.run()
    }

    /// Holds the lock of the data directory until the run has ended. Reads the secrets of all destinations. Returns
    /// whether payloads were rejected or deliveries failed. Throws ``StoreError/inUse(path:by:)`` while a gateway
    /// runs on that directory.
    private func deliver(_ interruption: Interruption) async throws -> Bool {
        let config = try options.loadConfig()
        try check(config)
        // Before the data directory, which a refused run must not create.
        try self.request.checkInputs()
        let opening = try GatewayOpening(options, config, asJSON: json, logger: options.log.makeLogger())
        defer { withExtendedLifetime(opening.directory) {} }
        let gateway = try opening.open(acceptsLoss: false)
        var request = self.request
        request.queue = options.queue(of: config.config)
        let session = try ReplaySession(request, interruption: interruption, diagnostics: .standardError)
        let run = try QueueReplay(request, through: gateway, in: session)
        let isIncomplete: Bool
        do {
            isIncomplete = try await run.run()
        } catch {
            _ = Terminal.finish()
            throw error
        }
        guard Terminal.finish() else { throw ExitCode.unusable }
        return isIncomplete
    }
}
