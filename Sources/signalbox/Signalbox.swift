import ArgumentParser
import Foundation

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
            Serve.self, Normalize.self, Replay.self, Explain.self, Routes.self, Listen.self, CaptureCommand.self,
            Events.self, Deliveries.self, Destinations.self, InApp.self, MediaFiles.self, AuditCommand.self, Keys.self,
            Certificates.self, VendorList.self, Schema.self,
        ])

    /// Exits with 0 after success, otherwise with the code of ``reported``.
    static func main() async {
        StandardOutput.reserveDescriptors()
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
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
