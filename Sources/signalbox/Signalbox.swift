import ArgumentParser
import Foundation

@main
struct Signalbox: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signalbox",
        abstract: "A gateway for push notifications of many vendors.",
        discussion: """
            Takes raw APNs and FCM payloads, finds out which vendor produced each one, and delivers one normalised \
            event to the webhooks that routes.json names.
            """,
        version: Version.current,
        subcommands: [
            Serve.self, Normalize.self, Replay.self, Explain.self, Routes.self, Listen.self, Deliveries.self,
            Destinations.self, MediaFiles.self, AuditCommand.self, Keys.self, VendorList.self, Schema.self,
        ])

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
            // ArgumentParser does not notice that its help, version or completions cannot be written.
            let text = exitCode(for: error) == .success ? fullMessage(for: error) : ""
            guard !text.isEmpty else { exit(withError: error) }
            StandardOutput.print(text)
        }
    }
}

enum Version {
    static let current = "0.1.0"
}
