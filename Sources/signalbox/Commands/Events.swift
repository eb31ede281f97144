import ArgumentParser
import Foundation
import SignalboxCommands
import SignalboxGateway
import SignalboxRouting

/// Both subcommands read the file of the queue, next to a running gateway. The config is optional: it names the data
/// directory, and its routes explain where an event goes.
struct Events: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "Search stored events, even while the gateway runs.", subcommands: [List.self, Show.self])

    /// Reads the queue from its newest event on.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "list", abstract: "List events, the newest first.")

        @OptionGroup var options: GatewayOptions
        @Option(help: "Only events of this vendor.") var vendor: String?
        @Option(help: "Only events of this kind, such as alert.") var kind: String?
        @Option(help: "Only events of this source.") var source: String?
        @Option(help: "Only events with a warning of this code.") var warning: String?
        @Flag(help: "Only events without a delivery.") var unrouted = false
        @Option(help: "Only events that match this pattern, written as in a route.") var filter: String?
        @Option(help: "Only events accepted since this time (RFC 3339) or age (24h).") var since: String?
        @Option(help: "Only events accepted before this time or age.") var until: String?
        /// At least 1.
        @Option(help: "Maximum number of events.") var limit = 50
        /// The same objects as in the API, without a heading.
        @Flag(help: "Print one JSON object per line.") var json = false

        private var search: EventSearch {
            var search = EventSearch()
            (search.vendor, search.kind, search.source, search.warning) = (vendor, kind, source, warning)
            (search.isUnrouted, search.pattern, search.since, search.until) = (unrouted, filter, since, until)
            return search
        }

        func validate() throws {
            try checkLimit(limit)
            try checkUsage { _ = try search.filter(now: Date()) }
        }

        /// An empty result prints the heading only and is a success.
        func run() async throws {
            let config = try options.optionalConfig().config
            let listing = EventListing(try options.existingQueue(config), config)
            try await listing.list(search, limit: limit, asJSON: json) { print($0) }
        }
    }

    /// Exits with 1 for an unknown event.
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show one event: routes with their reasons, deliveries with their attempts, interactions.")

        @OptionGroup var options: GatewayOptions
        /// As `list` prints it.
        @Argument(help: "The event's id.") var id: String
        /// Replaces everything else, even with `--json`. May name a destination that is no longer in the config.
        @Option(help: "Tell why the event reached this destination, or did not.") var destination: String?
        /// With the event itself.
        @Flag(help: "Print one JSON object, as in the API; with --destination, the answer.") var json = false

        /// The routes are those of the config now, which may differ from those that the event met.
        func run() async throws {
            let loaded = try options.optionalConfig()
            let trials = RouteTrials(
                normalizer: try options.normalizer(for: loaded.config), routes: loaded.routes, vendors: [:])
            let listing = EventListing(try options.existingQueue(loaded.config), loaded.config)
            try await listing.show(
                id, to: destination, trials: trials, isComplete: !options.isConfigMissing, asJSON: json
            ) { print($0) }
        }
    }
}
