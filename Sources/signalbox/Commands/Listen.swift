import ArgumentParser
import Foundation
import SignalboxCommands
import SignalboxConfig
import SignalboxGateway
import SignalboxServer

/// Runs until ^C or SIGTERM, and prints a summary. Meant for development: it stores no webhook. Verifies signatures of
/// Standard Webhooks, answers requests for permission of CloudEvents, and unpacks gzip.
struct Listen: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "listen", abstract: "Receive webhooks during development: verify, print, and fail on demand.",
        discussion: """
            Use the sender's secret, and send to http://127.0.0.1:9000/. With --forward-to, a gateway elsewhere can reach \
            an application under development through one verified address.
            """)

    /// The receiver needs neither config nor queue.
    @OptionGroup var log: LogOptions

    /// A host and a port; port 0 lets the system choose one, which the greeting names.
    @Option(help: "Address to listen on.")
    var listen = "127.0.0.1:9000"

    /// A reference, never the secret. Takes precedence over WEBHOOK_SECRET of the environment.
    @Option(
        help:
            "Reference to the secret or the public key, env:NAME or file:/path (default: env:WEBHOOK_SECRET if it is set). Without one, signatures are not verified."
    )
    var secret: String?

    /// Answers with the status of the application, or 502 without an answer. Nil: answers itself.
    @Option(
        help: ArgumentHelp(
            "Pass verified webhooks on to this address, and reply with the status of its answer.", valueName: "url"))
    var forwardTo: String?

    /// From 200 to 599. Nil: 204. Webhooks with an invalid signature always get another status. Webhooks are printed
    /// with any status. 410 makes a gateway disable the destination.
    @Option(help: "Status of replies to verified webhooks (default: 204).")
    var status: Int?

    /// A duration as in the config. Nil: replies are sent at once. Webhooks are printed before the delay. One that is
    /// longer than the sender's timeout simulates a receiver that hangs.
    @Option(help: "Delay of each reply, such as 2s.")
    var delay: String?

    /// Bodies as they were signed, without line ends, for programs. Ignored with `--quiet`.
    @Flag(help: "Print each body as one line of JSON; a body that is not JSON is a string.")
    var json = false

    /// Wins over `--json`.
    @Flag(help: "Print only a count at the end.")
    var quiet = false

    /// Rejects values before the address is opened.
    func validate() throws {
        if let status, !(200...599).contains(status) {
            throw ValidationError("Invalid --status \(status): use 200 to 599.")
        }
        if status != nil, forwardTo != nil { throw ValidationError("Use --status or --forward-to, not both.") }
        if let delay, Duration(text: delay) == nil {
            throw ValidationError("Invalid --delay \(delay): write a duration such as 2s or 250ms.")
        }
    }

    /// Exits with 130 after ^C, and with 2 if events could not be shown. The summary is on standard error in every
    /// case. Exits with 2 for an invalid address and for a secret that cannot be read, before the address is opened.
    /// The summary follows when the receiver has stopped.
    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        guard let address = ListenAddress(listen) else {
            throw refuse("Invalid listen address \(listen): write it as 127.0.0.1:9000.")
        }
        let forwarder = try forwardTo.map { (url) throws(CommandFailure) in try WebhookForwarder(url) }
        let desk = WebhookDesk(
            keys: try InputTexts.webhookKeys(secret, ProcessInfo.processInfo.environment), status: status ?? 204,
            form: quiet ? .none : json ? .json : .lines, color: StandardOutput.hasColor
        ) { Terminal.show($0) }
        let delay = delay.flatMap { Duration(text: $0) }
        let receiver = WebhookReceiver(
            address: address, logger: log.makeLogger(),
            onListening: { address in
                StandardError.write("signalbox \(Version.current) receiving webhooks on http://\(address)/\n")
            },
            receive: { message in
                let answer = await desk.accept(message, forward: forwarder?.forward)
                // The delay of `--delay`. A stop cancels it, and the reply is sent at once.
                if let delay { try? await Task.sleep(for: delay) }
                return answer
            })
        let interrupted = try await runServices([receiver], logger: log.makeLogger())
        forwarder?.stop()
        let isShown = Terminal.finish()
        StandardError.write(desk.summary + "\n")
        if interrupted { throw ExitCode.interrupted }
        if !isShown { throw ExitCode.unusable }
    }
}
