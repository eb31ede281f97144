import ArgumentParser
import Foundation
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification

struct Replay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send recorded payloads through the whole pipeline to the destinations.",
        discussion: """
            Reads NDJSON, a JSON array, or JSON texts that follow one another, also compressed by gzip or zstd; \
            --payload-at finds payloads in what another tool logged.

            Events go through the durable queue in --data-dir, which no gateway may be using. The run ends when every \
            delivery was tried; what is to be tried again later stays in the queue for the next replay or gateway. With \
            --to, payloads go to a running gateway instead, and the run ends when it has taken all of them.

            With --resume, a run that was ended in whatever way goes on where it was when the same command is given \
            again: nothing is missed, and what is sent twice bears the same id.
            """)

    @Argument(help: "Files to read; - or nothing is standard input.", completion: .file())
    var files: [String] = []

    @OptionGroup var options: GatewayOptions

    @Option(
        help: "Name of the source that stands in the events (default: default; with --to: what the token says).",
        transform: { try SourceName(argument: $0) })
    var source: SourceName?

    @OptionGroup(title: "Recordings by other tools") var envelope: EnvelopeOptions
    @OptionGroup(title: "What is replayed") var selection: SelectionOptions
    @OptionGroup(title: "Into a running gateway") var upload: UploadOptions

    @Flag(help: "Decide only: print where each payload would go, send and store nothing.")
    var dryRun = false

    @Option(
        help: ArgumentHelp("So many events a second at most, such as 200/s or 60/m.", valueName: "n/s"),
        transform: { text in
            guard let rate = ReplayText.rate(text) else {
                throw ValidationError("\(text) is no rate; write a number and a unit, such as 200/s, 60/m or 1000/h.")
            }
            return rate
        })
    var rate: Double?

    @Option(
        help: ArgumentHelp(
            "At so many times the pace in which the payloads were recorded, by --time-at.", valueName: "factor"),
        transform: { text in
            guard let speed = ReplayText.speed(text) else {
                throw ValidationError("\(text) is no speed; write how many times as fast, such as 1, 10 or 0.5.")
            }
            return speed
        })
    var speed: Double?

    @Option(
        help: "Keep in this file how far the run has come, and go on from there when it is there.",
        completion: .file())
    var resume: String?

    @Flag(help: "Print decisions and the tables as JSON.")
    var json = false

    @Flag(help: "Do not say how far the run has come.")
    var quiet = false

    @Option(help: "Write what was rejected to this file, as NDJSON.", completion: .file())
    var rejects: String?

    func validate() throws {
        if let sentence = misuse { throw ValidationError(sentence) }
    }

    func run() async throws {
        // A receiver that hung up must not end the run.
        if !dryRun { signal(SIGPIPE, SIG_IGN) }
        let interruption = Interruption()
        let incomplete =
            if dryRun {
                try await DryRun(self, interruption: interruption).run()
            } else if upload.to != nil {
                try await GatewayReplay(self, interruption: interruption).run()
            } else {
                try await QueueReplay(self, interruption: interruption).run()
            }
        if interruption.happened { throw ExitCode.interrupted }
        if incomplete { throw ExitCode.incomplete }
    }
}

extension Replay {
    /// Why these options do not go together, as one sentence.
    private var misuse: String? {
        if envelope.timeAt == nil {
            for (name, isGiven) in [
                ("--speed", speed != nil), ("--since", selection.since != nil), ("--until", selection.until != nil),
            ] where isGiven {
                return "\(name) goes by recorded times: say with --time-at where they stand."
            }
        }
        if dryRun {
            for (name, isGiven) in [
                ("--to", upload.to != nil), ("--resume", resume != nil), ("--rate", rate != nil),
                ("--speed", speed != nil),
            ] where isGiven {
                return "\(name) says how payloads are sent, and --dry-run sends nothing: leave one of them out."
            }
        }
        if upload.to != nil {
            if envelope.tokenAt != nil {
                return """
                    --token-at cannot go with --to: payloads are handed in as they stand, and nothing beside them says \
                    whose device they are for; the gateway hashes the tokens that stand in them. Leave it out, or replay \
                    into the queue, without --to, while no gateway uses that.
                    """
            }
            if options.dataDir != nil {
                return "--data-dir cannot go with --to: the gateway there has its own."
            }
        }
        if let resume {
            if files.isEmpty || files.contains("-") {
                return "--resume needs files: standard input cannot be read a second time."
            }
            if let rejects, FilePlace(resume) == FilePlace(rejects) {
                return "--resume and --rejects name the same file."
            }
        }
        for (option, path) in [("--resume", resume), ("--rejects", rejects)] {
            guard let path else { continue }
            if let sentence = FilePlace.misuse(of: option, path, inputs: files, config: options.configPath) {
                return sentence
            }
        }
        return nil
    }

    /// What decides which events are made, and how they are put into requests: a run that goes on must have the same.
    var identifyingOptions: [String: String] {
        var options: [String: String] = [:]
        options["payload-at"] = envelope.payloadAt?.text
        options["time-at"] = envelope.timeAt?.text
        options["token-at"] = envelope.tokenAt?.text
        options["vendor"] = selection.vendor.isEmpty ? nil : Set(selection.vendor).sorted().joined(separator: ", ")
        options["filter"] = selection.filter
        options["since"] = selection.since
        options["until"] = selection.until
        options["limit"] = selection.limit.map(String.init)
        options["source"] = source?.name
        options["to"] = upload.to
        options["rejects"] = rejects
        if upload.to != nil {
            // They say how many payloads are in a request.
            options["rate"] = rate.map { "\($0)" }
            options["speed"] = speed.map { "\($0)" }
        }
        return options
    }
}
