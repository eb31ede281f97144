import ArgumentParser
import Foundation
import SignalboxConfig
import SignalboxEgress
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification

/// Reads the captures of a running gateway over its API. Needs neither its config nor its data directory.
struct CaptureCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "capture",
        abstract: "Print pushes that reach the provider endpoints of a running gateway.",
        discussion: """
            Begins with the pushes that the gateway still has in memory, unless --new is given. With --until, exits with \
            0 as soon as so many pushes came, and with 1 after --timeout; standard error then names the pushes that came \
            instead, each with the first condition that it does not meet.

            A gateway with admin tokens needs one: SIGNALBOX_ADMIN_TOKEN in the environment, or --admin-token.
            """)

    @Option(help: "Address of the gateway's API.") var url = "http://127.0.0.1:8080"

    @Option(
        help: ArgumentHelp(
            "Reference to an admin token, env:NAME or file:PATH (default: env:SIGNALBOX_ADMIN_TOKEN if it is set).",
            valueName: "reference"))
    var adminToken: String?

    @Option(name: .customLong("run"), help: "Only pushes with this label of a run.") var label: String?
    @Option(help: "Only pushes of this source.") var source: String?
    @Option(help: "Only pushes of this service: apns, fcm or expo.") var platform: String?
    /// Leaves the machine in the body of a request, and is not logged.
    @Option(help: "Only pushes to this device token, in clear or as sha256:… of an event.") var token: String?
    @Option(
        help: ArgumentHelp(
            "Only pushes with this outcome: accepted, repeated, rejected, injected, unavailable, dry-run or any.",
            discussion: "Default: any; with --until: accepted.")
    )
    var outcome: String?
    @Option(
        help: ArgumentHelp(
            "Only accepted pushes whose event matches this pattern, as in a route: JSON, or the path of a file.",
            valueName: "pattern"))
    var match: String?

    @Option(help: ArgumentHelp("Exit after so many pushes.", valueName: "count")) var until: Int?
    @Option(help: ArgumentHelp("With --until: give up after this time (default: 10s).", valueName: "time"))
    var timeout: String?
    @Flag(help: "Leave out pushes that came before the start.") var new = false
    @Flag(help: "Print each push as one line of JSON, with its event.") var json = false

    func validate() throws {
        if let until, !(1...1_000_000).contains(until) {
            throw ValidationError("Invalid --until \(until): use 1 to 1000000.")
        }
        if timeout != nil, until == nil { throw ValidationError("--timeout requires --until.") }
        if let timeout, Duration(text: timeout) == nil {
            throw ValidationError("Invalid --timeout \(timeout): write a duration such as 10s or 2m.")
        }
        guard GatewayAddress(url, source: nil) != nil else {
            throw ValidationError("Invalid --url: write it as http://127.0.0.1:8080, without a user or a query.")
        }
    }

    /// Exits with 130 after ^C, with 2 for a gateway that cannot be reached or refuses the request.
    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        guard let address = GatewayAddress(url, source: nil) else { throw ExitCode.unusable }
        // The operator typed the address, so the egress policy does not apply to it.
        let http = OutboundHTTP(policy: AddressPolicy(allow: ["0.0.0.0/0", "::/0"].compactMap { AddressRange($0) }))
        let interruption = Interruption(by: SIGINT)
        interruption.whenItHappens { http.stop() }
        // The signal is handled as long as the value lives.
        defer { withExtendedLifetime(interruption) { http.stop() } }
        let time: Duration? = until == nil ? nil : timeout.flatMap { Duration(text: $0) } ?? .seconds(10)
        let follow = CaptureFollow(
            CaptureClient(address, token: try secret(), http: http), try request(), until: until, timeout: time)
        do throws(CaptureClient.Failure) {
            let end = try await follow.run(onlyNew: new) { capture in
                print(json ? capture.string : CaptureLine.text(capture))
            } warn: {
                StandardError.write("signalbox: \($0)\n")
            }
            guard case .timeout(let nearMisses) = end else { return }
            StandardError.write(Self.report(nearMisses, after: time ?? .zero))
        } catch .interrupted {
            throw ExitCode.interrupted
        } catch .refused(let sentence) {
            throw refuse(sentence)
        }
        throw ExitCode.incomplete
    }

    private static func report(_ nearMisses: [String], after time: Duration) -> String {
        let heading = "signalbox: the pushes did not arrive within \(time.text)."
        guard !nearMisses.isEmpty else { return heading + " No other push arrived.\n" }
        return heading + " Other pushes, newest first:\n" + nearMisses.map { $0 + "\n" }.joined()
    }

    private func request() throws(ExitCode) -> CaptureRequest {
        var request = CaptureRequest()
        let parameters: [(name: String, value: String?)] = [
            ("run", label), ("source", source), ("platform", platform),
            ("outcome", outcome ?? (until == nil ? "any" : "accepted")),
        ]
        request.parameters = parameters.compactMap { name, value in value.map { (name: name, value: $0) } }
        request.token = token
        if let match {
            let isJSON = match.drop { $0.isWhitespace }.hasPrefix("{")
            let text = isJSON ? Array(match.utf8) : FileManager.default.contents(atPath: match).map { Array($0) }
            guard let text else { throw refuse("Cannot read \(match); --match takes JSON or the path of a file.") }
            guard let pattern = CaptureRequest.pattern(text) else {
                throw refuse("The pattern of --match is not a JSON object.")
            }
            request.match = pattern
        }
        return request
    }

    /// Nil without a token, for a gateway that is open to this machine.
    private func secret() throws(ExitCode) -> String? {
        let environment = ProcessInfo.processInfo.environment
        let implied = environment["SIGNALBOX_ADMIN_TOKEN", default: ""].isEmpty ? nil : "env:SIGNALBOX_ADMIN_TOKEN"
        guard let text = adminToken ?? implied else { return nil }
        guard let reference = SecretReference(text) else {
            throw refuse("--admin-token takes a reference, env:NAME or file:PATH, because the process list shows it.")
        }
        do throws(UnresolvedSecret) {
            return try reference.resolve(environment: environment)
        } catch {
            throw refuse("--admin-token: \(error).")
        }
    }
}
