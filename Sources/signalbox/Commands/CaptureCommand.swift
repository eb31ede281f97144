import ArgumentParser
import Foundation
import SignalboxCommands
import SignalboxConfig
import SignalboxGateway

/// Reads the captures of a running gateway over its API. Needs neither its config nor its data directory.
struct CaptureCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "capture",
        abstract: "Print pushes that reach the provider endpoints of a running gateway.",
        discussion: """
            Begins with the pushes that the gateway still has in memory, unless --new is given. With --until COUNT, \
            exits with 0 when COUNT pushes have arrived, and with 1 after --timeout. Standard error then lists the \
            other pushes, each with the first condition that failed.

            A gateway with admin tokens needs one: SIGNALBOX_ADMIN_TOKEN in the environment, or --admin-token.
            """)

    @OptionGroup var client: OperatorOptions
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

    @Option(help: ArgumentHelp("Exit after this number of pushes.", valueName: "count")) var until: Int?
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
    }

    /// Exits with 130 after ^C, with 2 for a gateway that cannot be reached or refuses the request.
    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        let connection = try client.connection()
        let interruption = Interruption(by: SIGINT)
        interruption.whenItHappens { connection.stop() }
        // The signal is handled as long as the value lives.
        defer { withExtendedLifetime(interruption) { connection.stop() } }
        let time = timeout.flatMap { Duration(text: $0) } ?? .seconds(10)
        try await CaptureRun(connection, try request(), until: until, timeout: time).run(onlyNew: new, asJSON: json) {
            print($0)
        }
    }

    private func request() throws(CommandFailure) -> CaptureRequest {
        var request = CaptureRequest()
        let parameters: [(name: String, value: String?)] = [
            ("run", label), ("source", source), ("platform", platform),
            ("outcome", outcome ?? (until == nil ? "any" : "accepted")),
        ]
        request.parameters = parameters.compactMap { name, value in value.map { (name: name, value: $0) } }
        request.token = token
        request.match = try match.map { (text) throws(CommandFailure) in try CaptureWords.pattern(text) }
        return request
    }
}
