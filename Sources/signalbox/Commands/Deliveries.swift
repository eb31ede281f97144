import ArgumentParser
import Foundation
import SignalboxCommands
import SignalboxConfig
import SignalboxGateway
import SignalboxRouting
import SignalboxStore

/// All subcommands work on the store of the queue, next to running gateways, which see their changes at their next
/// tick. The config is optional: it names the data directory and explains why deliveries wait.
struct Deliveries: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deliveries", abstract: "Inspect the queue and the dead letters, even while the gateway runs.",
        subcommands: [List.self, Show.self, Retry.self, Purge.self])

    /// Conditions that `list`, `retry` and `purge` share. All given conditions must hold.
    struct Selection: ParsableArguments {
        /// Nil: all states.
        @Option(help: "Only deliveries that are waiting, delivered, dead or expired.") var state: DeliveryRecord.State?
        /// May name a destination that is no longer in the config. Nil: all destinations.
        @Option(help: "Only deliveries to this destination.") var destination: String?
        /// As `signalbox normalize` and receivers print it. Nil: all events.
        @Option(help: "Only deliveries of the event with this id.") var event: String?
        @Option(help: "Only deliveries of events of this vendor.") var vendor: String?
        @Option(help: "Only deliveries whose last attempt was answered with this status, such as 503 or 5xx.")
        var status: String?
        @Option(help: "Only deliveries whose last attempt failed without an answer, for this reason, such as dns.")
        var error: String?
        @Option(help: "Only deliveries of events accepted since this time (RFC 3339) or age (24h).") var since: String?
        @Option(help: "Only deliveries of events accepted before this time or age.") var until: String?

        var conditions: DeliveryConditions {
            var all = DeliveryConditions()
            (all.state, all.destination, all.event, all.vendor) = (state, destination, event, vendor)
            (all.status, all.error, all.since, all.until) = (status, error, since, until)
            return all
        }

        func validate() throws { try checkUsage { _ = try conditions.filter(now: Date()) } }

        /// Throws for an unknown vendor, destination or event, which would select nothing.
        func check(_ config: GatewayConfig, _ queue: any Store) async throws {
            try await KnownNames.check(vendor: vendor, config, queue)
            try await KnownNames.check(destination: destination, config, queue)
            try await KnownNames.check(event: event, queue)
        }
    }

    /// Reads at most `--limit` rows, even of a large queue.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List deliveries, the newest first.")

        @OptionGroup var options: GatewayOptions
        @OptionGroup var selection: Selection
        /// At least 1. There is no cursor: use `GET /v1/deliveries` to page through a large queue.
        @Option(help: "Maximum number of deliveries.") var limit = 50
        /// The same objects as in the operations API, without a heading.
        @Flag(help: "Print one JSON object per line.") var json = false

        func validate() throws { try checkLimit(limit) }

        /// The column of the wait needs the config and the status of destinations; both are read once. An empty
        /// result prints the heading only and is a success.
        func run() async throws {
            let config = try options.optionalConfig().config
            let queue = try options.existingQueue(config)
            let filter = try selection.conditions.filter(now: Date())
            try await selection.check(config, queue)
            try await Deliveries.listing(queue, config, options).list(filter, limit: limit, asJSON: json) { print($0) }
        }
    }

    /// Exits with 1 for an unknown delivery.
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show one delivery, its attempts, and its event.",
            discussion: """
                One JSON object per line: the delivery, each attempt from the first to the last, the event. With --json, \
                the delivery alone, with its attempts as the member log, as in the API.
                """)

        /// As for `list`: the config explains the wait, and names the data directory.
        @OptionGroup var options: GatewayOptions
        /// As `list` prints it. Numbers are never reused.
        @Argument(help: "The delivery's number.") var id: Int64
        @Flag(help: "Print one JSON object.") var json = false

        /// Prints the event as stored. A destination with a transformation received another body. The event is left out
        /// if it is removed between the reads. The attempts have the members of the operations API.
        func run() async throws {
            let config = try options.optionalConfig().config
            let queue = try options.existingQueue(config)
            try await Deliveries.listing(queue, config, options).show(id, asOneObject: json) { print($0) }
        }
    }

    /// Exits with 1 when fewer deliveries were requeued than were named.
    struct Retry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "retry", abstract: "Requeue deliveries, with a new budget of attempts.",
            discussion: """
                A running gateway attempts them within a second, unless their destination waits; otherwise the next \
                start does. Name deliveries by number, or give conditions: without --state, they select dead \
                deliveries. --dead alone selects all dead deliveries.
                """)

        /// Only the data directory and the names are read from the config, which may be missing.
        @OptionGroup var options: GatewayOptions
        /// At most 500. The conditions narrow the selection.
        @Argument(help: "Numbers of deliveries.") var ids: [Int64] = []
        /// The same as `--state dead`.
        @Flag(help: "All dead deliveries.") var dead = false
        @OptionGroup var selection: Selection
        @OptionGroup var change: Change

        /// An empty selection is an error, so a typing mistake does not requeue everything. So is a state that cannot
        /// be requeued, which would look like success.
        func validate() throws {
            try Deliveries.check(
                ids, orElse: dead || selection.conditions.isSelective,
                "Name deliveries by number, or give conditions, such as --dead or --destination.")
            if dead, selection.state != nil { throw ValidationError("Use --dead or --state, not both.") }
            try checkUsage { try selection.conditions.checkRetry() }
        }

        /// Deliveries of a paused destination wait until it is resumed. Delivered and expired deliveries cannot be
        /// requeued: those that are named count as not requeued. Deliveries that wait for media stay as they are. See
        /// ``InspectionStore/retry(_:as:)``.
        func run() async throws {
            var conditions = selection.conditions
            conditions.ids = ids
            if dead || ids.isEmpty { conditions.state = conditions.state ?? .dead }
            try await change.run(.retry, conditions, options, selection)
        }
    }

    /// The only command that removes events before their retention ends.
    struct Purge: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "purge", abstract: "Remove deliveries permanently, and events that have no delivery left.",
            discussion: """
                Name deliveries by number, or give --state; the other conditions narrow the selection. Removed \
                deliveries cannot be restored; the audit continues to count them. The command asks before it \
                removes deliveries that were never delivered, and needs --yes for that without a terminal.
                """)

        /// Only the data directory and the names are read from the config, which may be missing.
        @OptionGroup var options: GatewayOptions
        /// At most 500. The conditions narrow the selection.
        @Argument(help: "Numbers of deliveries.") var ids: [Int64] = []
        @OptionGroup var selection: Selection
        /// The age of the event, not of the delivery, as a duration of the config. Nil: any age.
        @Option(help: "Only deliveries of events accepted longer ago than this, such as 30d; the same as --until 30d.")
        var olderThan: String?
        @OptionGroup var change: Change

        /// Rejects an empty selection, and an invalid or contradictory age. Called by ArgumentParser before ``run()``,
        /// so no delivery is removed after a mistake.
        func validate() throws {
            try Deliveries.check(ids, orElse: selection.state != nil, "Name deliveries by number, or give --state.")
            try checkUsage { _ = try conditions.filter(now: Date()) }
        }

        private var conditions: DeliveryConditions {
            var all = selection.conditions
            (all.ids, all.olderThan) = (ids, olderThan)
            return all
        }

        /// Removes in small steps, so a gateway can write in between. Deliveries that the gateway is attempting stay.
        /// Prints the number of removed deliveries. Exits with 1 when fewer were removed than were named, for example
        /// because an attempt was in progress. A purge that is interrupted has removed whole deliveries only; repeat
        /// it for the rest.
        func run() async throws {
            try await change.run(.purge, conditions, options, selection)
        }
    }

    /// The part of `retry` and `purge` that changes the queue.
    struct Change: ParsableArguments {
        @Flag(help: "Print what would change, and change nothing.") var dryRun = false
        /// A purge of undelivered deliveries needs it without a terminal.
        @Flag(help: "Do not ask.") var yes = false
        /// Not required.
        @Option(help: "Why; the action log records it.") var reason: String?
        @Flag(help: "Print the count as JSON.") var json = false

        func run(
            _ kind: BulkChange, _ conditions: DeliveryConditions, _ options: GatewayOptions, _ selection: Selection
        ) async throws {
            let config = try options.optionalConfig().config
            let queue = try options.existingQueue(config)
            try await selection.check(config, queue)
            let change = DeliveryChange(kind, conditions, isForced: yes, reason: reason)
            try await change.report(in: queue, isTrial: dryRun, asJSON: json) { print($0) }
        }
    }

    /// Explains waits by the config, if there is one, and by the status of destinations.
    private static func listing(
        _ queue: any Store, _ config: GatewayConfig, _ options: GatewayOptions
    ) async throws -> DeliveryListing {
        DeliveryListing(queue, DeliveryWaits(options.isConfigMissing ? nil : config, try await queue.statuses()))
    }

    /// `isNamed`: whether another option selects deliveries. `sentence`: the error if neither selects deliveries.
    /// Throws a `ValidationError`, for example for more than 500 numbers.
    private static func check(_ ids: [Int64], orElse isNamed: Bool, _ sentence: String) throws {
        if ids.isEmpty, !isNamed { throw ValidationError(sentence) }
        if ids.count > 500 { throw ValidationError("Name at most 500 deliveries at once.") }
    }
}

/// Lets `--state` accept the raw values, which the help and the completions list.
extension DeliveryRecord.State: ExpressibleByArgument {}
