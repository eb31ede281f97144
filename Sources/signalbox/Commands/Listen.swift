import ArgumentParser
import Foundation
import Logging
import SignalboxConfig
import SignalboxGateway
import SignalboxServer
import Synchronization

struct Listen: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Receive webhooks while developing: verify, show, and fail on demand.",
        discussion: "Set the secret as the sender has it, and the sender's address to http://127.0.0.1:9000/.")

    @OptionGroup var options: GatewayOptions

    @Option(help: "Address to listen on.")
    var listen = "127.0.0.1:9000"

    @Option(
        help:
            "Where the secret or the public key is, env:NAME or file:/path (default: env:WEBHOOK_SECRET where that is set). Without one, nothing is verified."
    )
    var secret: String?

    @Option(help: "Status to answer with when the signature is good.")
    var status = 204

    @Option(help: "Time to wait before answering, such as 2s.")
    var delay: String?

    @Flag(help: "Print each event as the one line of JSON that it came as.")
    var json = false

    @Flag(help: "Print nothing but a count at the end.")
    var quiet = false

    func validate() throws {
        guard (200...599).contains(status) else { throw ValidationError("--status takes 200 to 599.") }
        if let delay, Duration(text: delay) == nil {
            throw ValidationError("--delay takes a duration such as 2s or 250ms.")
        }
    }

    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        guard let address = ListenAddress(listen) else {
            throw refuse("\(listen) is no address to listen on; write it as 127.0.0.1:9000.")
        }
        let desk = ReceivingDesk(
            secret: try webhookSecret(), status: status, delay: delay.flatMap { Duration(text: $0) },
            form: quiet ? .none : json ? .json : .lines)
        let receiver = WebhookReceiver(
            address: address, logger: options.makeLogger(),
            onListening: { address in
                StandardError.write("signalbox \(Version.current) receiving webhooks on http://\(address)/\n")
            },
            receive: { await desk.take($0) })
        let interrupted = try await ServiceRun(services: [receiver], logger: options.makeLogger()).run()
        let isShown = Terminal.finish()
        StandardError.write(desk.summary + "\n")
        if interrupted { throw ExitCode.interrupted }
        if !isShown { throw ExitCode.incomplete }
    }

    private func webhookSecret() throws(ExitCode) -> WebhookKeys? {
        let environment = ProcessInfo.processInfo.environment
        let implied = environment["WEBHOOK_SECRET"] == nil ? nil : "env:WEBHOOK_SECRET"
        guard let text = secret ?? implied else { return nil }
        guard let reference = SecretReference(text) else {
            throw refuse(
                "--secret takes a reference, env:NAME or file:/path; a secret itself would show in the process list.")
        }
        do {
            return WebhookKeys([try WebhookKey(try reference.resolve(environment: environment))])
        } catch {
            throw refuse("\(error).")
        }
    }
}

/// Takes webhooks in: verifies, prints, counts, answers.
final class ReceivingDesk: Sendable {
    enum Form { case none, lines, json }

    // A class because all connections count in one place.
    private struct Counts {
        var received = 0
        var distinct: Set<String> = []
        var unverified = 0
    }

    private let counts = Mutex(Counts())
    private let secret: WebhookKeys?
    private let status: Int
    private let delay: Duration?
    private let form: Form
    /// Of a body that was compressed.
    private static let bodyLimit = 64 * 1024 * 1024

    init(secret: WebhookKeys?, status: Int, delay: Duration?, form: Form) {
        self.secret = secret
        self.status = status
        self.delay = delay
        self.form = form
    }

    var summary: String {
        counts.withLock {
            "\($0.received) received, \($0.distinct.count) distinct ids, \($0.unverified) with a bad signature"
        }
    }

    func take(_ message: WebhookReceiver.Message) async -> Int {
        let body = opened(message)
        let verdict = verify(message, body)
        counts.withLock { counts in
            counts.received += 1
            if let id = message.id { counts.distinct.insert(id) }
            if verdict.isBad { counts.unverified += 1 }
        }
        let answer = verdict.isBad ? 401 : status
        show(body ?? message.body, verdict, answer)
        // The delay is what the developer asked for, to see how the sender takes it.
        if let delay { try? await Task.sleep(for: delay) }
        return answer
    }

    /// The body without its compression, which is what was signed; nil when that is unknown or damaged.
    private func opened(_ message: WebhookReceiver.Message) -> [UInt8]? {
        switch message.header("content-encoding") {
        case nil, "identity": message.body
        case "gzip": try? Decompression.gunzip(message.body, upTo: Self.bodyLimit)
        default: nil
        }
    }

    private func verify(_ message: WebhookReceiver.Message, _ body: [UInt8]?) -> (isBad: Bool, words: String) {
        guard let body else { return (true, "REJECTED: the body is no gzip, or too large") }
        guard let secret else { return (false, "not verified: no secret given") }
        do throws(WebhookVerificationError) {
            try secret.verify(
                id: message.id, timestamp: message.timestamp, signatures: message.signature, body: body, now: Date())
            return (false, "signature verified")
        } catch {
            return (true, "REJECTED: \(error)")
        }
    }

    private func show(_ body: [UInt8], _ verdict: (isBad: Bool, words: String), _ answer: Int) {
        switch form {
        case .none: return
        // What did not come from the sender we know is no event, and may be no JSON.
        case .json: if !verdict.isBad { Terminal.show(String(decoding: body, as: UTF8.self) + "\n") }
        case .lines:
            let event = EventLine(color: StandardOutput.hasColor).text(body)
            Terminal.show(event + "    \(verdict.words); answering \(answer)\n")
        }
    }
}
