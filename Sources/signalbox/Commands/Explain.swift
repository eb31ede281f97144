import ArgumentParser
import SignalboxCommands
import SignalboxNotification
import SignalboxRouting

/// Needs neither queue nor network. Prints how the vendor was found, the decision of each route, and the
/// destinations. Without a config there are no routes to explain. The text is for people and may change between
/// versions. Programs use `POST /v1/routes/test`.
struct Explain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Explain how a payload is recognised and where its event would be delivered.")

    /// May be compressed by gzip or zstd, as for `normalize`. A payload, not an event: a CloudEvents envelope is read
    /// as a payload like any other object.
    @Argument(help: "A file with one payload; - or nothing is standard input.", completion: .file())
    var file = "-"

    /// The config adds vendors, sources and routes. Tokens are hashed with the key of the database, or of
    /// the data directory if it has one.
    @OptionGroup var options: GatewayOptions

    /// The vendor that the config gives this source counts as in the gateway. Need not be in the config. Text that
    /// ``NameRule`` rejects is a usage error.
    @Option(help: "Name of the source.", transform: { try SourceName(argument: $0) })
    var source = SourceName.default

    /// Has the origin of each value of the event, which the text lacks.
    @Flag(help: "Print one JSON object, as `POST /v1/explain` answers.") var json = false

    /// Exits with 1 for an input that the gateway would reject. Stores no event. The sections are printed as they are
    /// made, so the recognition is shown even if a later step rejects the payload.
    func run() async throws {
        let loaded = try options.optionalConfig()
        let run = ExplainRun(loaded, by: try options.normalizer(for: loaded.config), from: source)
        try await run.explain(file, asJSON: json) { print($0) }
    }
}
