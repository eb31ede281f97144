import ArgumentParser
import SignalboxCommands
import SignalboxJSON
import SignalboxNotification

/// For first steps and for checks of routes: needs neither a device nor an account at a vendor.
struct Send: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send", abstract: "Send an example payload of a vendor to a running gateway.",
        discussion: """
            A gateway with sources needs the token of one: SIGNALBOX_TOKEN in the environment, or --token. \
            signalbox send --list shows the vendors and kinds.
            """)

    @Argument(help: "Name of the vendor, as signalbox vendors lists it.") var vendor: String?
    /// Nil: the vendor's usual one.
    @Argument(help: "Kind of the event, such as alert or silent.") var kind: String?
    @OptionGroup var client: GatewayOption

    @Option(
        help: ArgumentHelp(
            "Reference to the token of a source, env:NAME or file:PATH (default: env:SIGNALBOX_TOKEN if it is set).",
            valueName: "reference"))
    var token: String?

    /// Nil: the source of the token.
    @Option(help: "Name of the source to send as.", transform: { try SourceName(argument: $0) })
    var source: SourceName?
    @Option(help: "How often to send it.") var count = 1
    @Flag(help: "Print the payload and send nothing.") var dryRun = false
    @Flag(help: "List the vendors and their kinds.") var list = false
    @Flag(help: "Print the gateway's receipt as JSON.") var json = false

    func validate() throws {
        if vendor == nil, !list { throw ValidationError("Name a vendor, or use --list.") }
        guard (1...10_000).contains(count) else { throw ValidationError("Invalid --count \(count): use 1 to 10000.") }
        try checkUsage { try CommandToken.check(token, option: "--token") }
    }

    /// Exits with 1 for a payload that the gateway rejects, with 2 for a gateway that cannot be reached.
    func run() async throws {
        guard let vendor, !list else {
            for line in json ? SamplePayloads.jsonLines : SamplePayloads.lines { print(line) }
            return
        }
        let payload = try SamplePayloads.payload(of: vendor, kind)
        if dryRun { return print(payload.string) }
        let token = try CommandToken.read(token, option: "--token", variable: "SIGNALBOX_TOKEN")
        let connection = try client.connection(token: token)
        defer { connection.stop() }
        let sender = SampleSender(connection, source: source)
        for _ in 0..<count {
            let receipt = try await sender.send(payload)
            print(json ? receipt.string : SampleSender.line(receipt))
        }
    }
}
