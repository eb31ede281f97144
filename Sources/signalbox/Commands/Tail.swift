import ArgumentParser
import Foundation
import SignalboxCommands
import SignalboxGateway

/// Reads the live stream of a running gateway over its API.
struct Tail: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tail", abstract: "Print events and deliveries of a running gateway as they happen.",
        discussion: """
            Begins with the next occurrence. Connects again when the gateway restarts, or sends nothing for a minute, \
            and says how many occurrences were not shown. Use --vendor or --filter, not both.

            A gateway with admin tokens needs one: SIGNALBOX_ADMIN_TOKEN in the environment, or --admin-token.
            """)

    @OptionGroup var client: OperatorOptions
    /// A delivery has no vendor.
    @Option(help: "Only events of this vendor; deliveries of other events are shown too.") var vendor: String?
    @Option(help: "Only events that match this pattern, written as in a route; deliveries are not filtered.")
    var filter: String?
    @Option(help: "Occurrences to print: event, delivery, destination, stats; separated by commas.")
    var types = "event,delivery,destination"
    @Option(help: "Exit after this number of lines.") var limit: Int?
    @Flag(help: "Print one JSON object per line.") var json = false

    func validate() throws {
        if let sentence = LiveTail.Request.mistake(inTypes: types) { throw ValidationError(sentence) }
        if let limit { try checkLimit(limit) }
    }

    /// Exits with 130 after ^C, with 2 for a gateway that cannot be reached or refuses the request.
    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        var request = LiveTail.Request()
        (request.types, request.pattern, request.limit) = (types.split(separator: ",").map(String.init), filter, limit)
        try request.select(vendor: vendor)
        let connection = try client.connection()
        let interruption = Interruption(by: SIGINT)
        interruption.whenItHappens { connection.stop() }
        // The signal is handled as long as the value lives.
        defer { withExtendedLifetime(interruption) { connection.stop() } }
        try await LiveTail(connection, request).run(asJSON: json) {
            print($0)
        } warn: {
            StandardError.warn($0)
        }
    }
}
