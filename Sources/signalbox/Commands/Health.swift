import ArgumentParser
import SignalboxCommands
import SignalboxConfig

/// For the health checks of containers, which may have neither a shell nor curl.
struct Health: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health", abstract: "Ask a running gateway whether it accepts events.",
        discussion: "Exit code 0 if it does, 1 if it does not or cannot be reached.")

    @OptionGroup var client: GatewayOption
    @Option(help: "Give up after this time.") var timeout = "3s"
    @Flag(help: "Print one JSON object.") var json = false

    func validate() throws {
        guard let time = Duration(text: timeout), time > .zero else {
            throw ValidationError("Invalid --timeout \(timeout): write a duration such as 3s.")
        }
    }

    func run() async throws {
        let connection = try client.connection()
        defer { connection.stop() }
        let answer = await ReadinessCheck(connection, timeout: Duration(text: timeout) ?? .seconds(3)).ask()
        if json { print(answer.json(connection)) }
        if case .notReady(let reason) = answer { throw CommandFailure.incomplete(json ? "" : reason) }
        if !json { print("ready") }
    }
}
