import ArgumentParser
import SignalboxCommands

/// The command line. Without a subcommand it prints the help. Each subcommand has a file in the folder `Commands`;
/// several share ``GatewayOptions``.
@main
struct Signalbox: AsyncParsableCommand {
    /// The order of the subcommands is that of the help and of docs/reference/cli.md.
    static let configuration = CommandConfiguration(
        commandName: "signalbox",
        abstract: "A gateway for push notifications of many vendors.",
        discussion: """
            Accepts raw APNs and FCM payloads, identifies the vendor of each one, and delivers one normalised event to \
            the webhooks that routes.json names.
            """,
        version: Version.current,
        subcommands: [
            Serve.self, Init.self, Normalize.self, Replay.self, Explain.self, Routes.self, ConfigCommand.self,
            Send.self, Listen.self, CaptureCommand.self, Tail.self, Events.self, Deliveries.self, Destinations.self,
            InApp.self, MediaFiles.self, StoreCommand.self, AuditCommand.self, Health.self, Keys.self,
            Certificates.self, VendorList.self, Schema.self, Completion.self,
        ])

    /// The names of the commands with those of their subcommands. A command with a default subcommand may take other
    /// arguments, so it has none here.
    private static var names: [String: [String]] {
        var names: [String: [String]] = ["help": []]
        for command in configuration.subcommands {
            let members = command.configuration.subcommands.map { $0._commandName }
            let isOpen = members.isEmpty || command.configuration.defaultSubcommand != nil
            names[command._commandName] = isOpen ? [] : members
        }
        return names
    }

    /// Exits with 0 after success, otherwise with the code of ``reported``.
    static func main() async {
        StandardOutput.reserveDescriptors()
        // Swift finds the arguments with the help of /proc/self/maps. It finds none without /proc, or with some
        // preloaded libraries, such as faketime. Every command would then print the help and succeed.
        guard !CommandLine.arguments.isEmpty else {
            let remedy = "Mount /proc, and preload no library such as faketime."
            exit(withError: refuse("The arguments of the command line cannot be read. \(remedy)"))
        }
        do {
            if CommandLine.arguments.dropFirst().first == Serve._commandName { try Serve.prepare() }
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            // Only now: the names of all commands take a third of the time in which a short command starts.
            if let sentence = KnownNames.unknownCommand(Array(CommandLine.arguments.dropFirst()), among: names) {
                _ = refuse(sentence)
                exit(withError: ExitCode.validationFailure)
            }
            let error = error.reported
            // ArgumentParser ignores a failure to write its help, version or completions.
            let text = exitCode(for: error) == .success ? fullMessage(for: error) : ""
            guard !text.isEmpty else { exit(withError: error) }
            StandardOutput.print(text)
        }
    }
}

/// The version in the help, the greeting and the `user-agent` of webhooks.
enum Version {
    /// Changed with each release, together with the changelog.
    static let current = "0.1.0"
}
