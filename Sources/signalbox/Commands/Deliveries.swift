import ArgumentParser
import Foundation
import SignalboxConfig
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxRouting
import SignalboxServer
import SignalboxStore

/// All subcommands work on the file of the queue, next to a running gateway, which sees their changes at its next
/// tick. The config is optional: it names the data directory and explains why deliveries wait.
struct Deliveries: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Inspect the queue and the dead letters, also while the gateway runs.",
        subcommands: [List.self, Show.self, Retry.self, Purge.self])

    /// Reads at most `--limit` rows, also of a large queue.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List deliveries, the newest first.")

        /// Without a config, `list` cannot tell unknown destinations from known ones, and counts all as known.
        @OptionGroup var options: GatewayOptions
        /// Nil: all states.
        @Option(help: "Only deliveries that are waiting, delivered, dead or expired.") var state: DeliveryRecord.State?
        /// May name a destination that is no longer in the config. Nil: all destinations.
        @Option(help: "Only deliveries to this destination.") var destination: String?
        /// A negative number counts as 0. There is no cursor: use `GET /v1/deliveries` to page through a large queue.
        @Option(help: "Maximum number of deliveries.") var limit = 50
        /// The same objects as in the operations API, without a heading.
        @Flag(help: "Print one JSON object per line.") var json = false

        /// The column of the wait needs the config and the status of destinations; both are read once. An empty
        /// result prints the heading only and is a success.
        func run() async throws {
            let config = try options.optionalConfig().config
            let queue = try options.existingQueue(config)
            let filter = DeliveryFilter(state: state, destination: destination.map { DestinationName($0) })
            let records = try await queue.deliveries(filter, limit: max(0, limit))
            let waits = DeliveryWaits(options.isConfigMissing ? nil : config, try await queue.statuses())
            if !json { print(DeliveryWaits.heading) }
            for record in records { print(json ? record.json(waits.wait(of: record)) : waits.row(record)) }
        }
    }

    /// Exits with 1 for an unknown delivery.
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show one delivery, its attempts, and its event.",
            discussion: "One JSON object per line: the delivery, each attempt from the first to the last, the event.")

        /// As for `list`: the config explains the wait, and names the data directory.
        @OptionGroup var options: GatewayOptions
        /// As `list` prints it. Numbers are never reused.
        @Argument(help: "The delivery's number.") var id: Int64

        /// Prints the event as stored. A destination with a transformation received another one. The event is left
        /// out if it is removed between the reads. The attempts have the members of the operations API.
        func run() async throws {
            let config = try options.optionalConfig().config
            let queue = try options.existingQueue(config)
            guard let record = try await queue.deliveries(DeliveryFilter(ids: [id]), limit: 1).first else {
                StandardError.write("signalbox: there is no delivery \(id).\n")
                throw ExitCode.incomplete
            }
            let waits = DeliveryWaits(options.isConfigMissing ? nil : config, try await queue.statuses())
            print(record.json(waits.wait(of: record)))
            for attempt in try await queue.attempts(of: id) {
                print(JSONText.object { $0.attempt(attempt) })
            }
            if let body = try await queue.body(ofEvent: record.event) { print(String(decoding: body, as: UTF8.self)) }
        }
    }

    /// Exits with 1 when fewer deliveries were requeued than were named.
    struct Retry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Requeue deliveries, with a new budget of attempts.",
            discussion: "A running gateway attempts them at once; otherwise the next start does.")

        /// Only the data directory is read from the config, which may be missing.
        @OptionGroup var options: GatewayOptions
        /// At most 500. The other options narrow the selection.
        @Argument(help: "Numbers of deliveries.") var ids: [Int64] = []
        /// May select any number of deliveries. Together with numbers it selects those of them that were moved to
        /// dead letters.
        @Flag(help: "All dead deliveries.") var dead = false
        /// Narrows the selection and selects none by itself. Nil: all destinations.
        @Option(help: "Only deliveries to this destination.") var destination: String?
        /// Not required.
        @Option(help: "Why; the action log records it.") var reason: String?

        /// An empty selection is an error, so a typing mistake does not requeue everything.
        func validate() throws {
            try Deliveries.check(ids, orElse: dead, "Name deliveries by number, or use --dead.")
        }

        /// One write. Deliveries of a paused destination wait until it is resumed. Delivered and expired deliveries
        /// cannot be requeued; a named one counts as not requeued. Deliveries that wait for media stay as they are.
        /// See ``InspectionStore/retry(_:)``.
        func run() async throws {
            let queue = try options.queue()
            let filter = DeliveryFilter(
                ids: ids.isEmpty ? nil : ids, state: dead ? .dead : nil,
                destination: destination.map { DestinationName($0) })
            let count = try await queue.retry(filter, as: .command("deliveries.retry", filter, reason: reason))
            print("\(count) deliveries requeued")
            if !ids.isEmpty, count < Set(ids).count { throw ExitCode.incomplete }
        }
    }

    /// The only command that removes events before their retention ends.
    struct Purge: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove deliveries permanently, and events that have no delivery left.",
            discussion: """
                Removed deliveries cannot be restored; the audit continues to count them. The command asks before it \
                removes deliveries that were never delivered.
                """)

        /// Only the data directory is read from the config, which may be missing.
        @OptionGroup var options: GatewayOptions
        /// At most 500. The other options narrow the selection.
        @Argument(help: "Numbers of deliveries.") var ids: [Int64] = []
        /// Nil only if deliveries are named by number.
        @Option(help: "All deliveries that are delivered, dead, expired, or waiting.") var state: DeliveryRecord.State?
        /// Nil: all destinations.
        @Option(help: "Only deliveries to this destination.") var destination: String?
        /// The age of the event, not of the delivery, as a duration of the config. Nil: any age.
        @Option(help: "Only deliveries of events accepted longer ago than this, such as 30d.") var olderThan: String?
        /// Required without a terminal when waiting deliveries are selected.
        @Flag(help: "Remove waiting deliveries without asking.") var yes = false
        /// Not required.
        @Option(help: "Why; the action log records it.") var reason: String?

        /// Rejects an empty selection and an invalid age. Called by ArgumentParser before ``run()``, so no delivery
        /// is removed after a mistake.
        func validate() throws {
            try Deliveries.check(ids, orElse: state != nil, "Name deliveries by number, or use --state.")
            if let olderThan, Duration(text: olderThan) == nil {
                throw ValidationError("Invalid duration \(olderThan): write it as 30d, with ms, s, m, h or d.")
            }
        }

        /// Removes in small steps, so a gateway can write in between. Deliveries that the gateway is attempting stay.
        /// Prints the number of removed deliveries. Exits with 1 when fewer were removed than were named, for example
        /// because an attempt was in progress. A purge that is interrupted has removed whole deliveries only; repeat
        /// it for the rest.
        func run() async throws {
            let queue = try options.queue()
            let age = olderThan.flatMap { Duration(text: $0) }
            let filter = DeliveryFilter(
                ids: ids.isEmpty ? nil : ids, state: state, destination: destination.map { DestinationName($0) },
                acceptedBefore: age.map { Date(timeIntervalSinceNow: -($0 / .seconds(1))) })
            let isAgreed = try await agrees(to: filter, in: queue)
            let count = try await queue.purge(
                filter, sparingWaiting: !isAgreed, as: .command("deliveries.purge", filter, reason: reason))
            print("\(count) deliveries removed")
            if !ids.isEmpty, count < Set(ids).count { throw ExitCode.incomplete }
        }

        /// True if waiting deliveries may be removed too. Asks if there are some; without a terminal it refuses.
        /// False without a question when no waiting delivery is selected, so one that becomes selected afterwards is
        /// spared. Throws ``ExitCode/unusable`` after a refusal, and unless both standard input and standard error
        /// are terminals.
        private func agrees(to filter: DeliveryFilter, in queue: any Store) async throws -> Bool {
            if yes { return true }
            let count = try await queue.undeliveredCount(filter)
            guard count > 0 else { return false }
            guard isatty(STDIN_FILENO) == 1, StandardError.isTerminal else {
                throw refuse(
                    "\(count) of these deliveries were never delivered, so none was removed. Add --yes to remove them.")
            }
            StandardError.write(
                "\(count) of these deliveries were never delivered. Remove them permanently? [y/N] ")
            guard let answer = readLine(), ["y", "yes"].contains(answer.lowercased()) else {
                throw refuse("No delivery was removed.")
            }
            return true
        }
    }

    /// `isNamed`: whether another option selects deliveries. `sentence`: the error if neither selects deliveries.
    /// Throws a `ValidationError`, also for more than 500 numbers.
    private static func check(_ ids: [Int64], orElse isNamed: Bool, _ sentence: String) throws {
        if ids.isEmpty, !isNamed { throw ValidationError(sentence) }
        if ids.count > 500 { throw ValidationError("Name at most 500 deliveries at once.") }
    }
}

/// Lets `--state` accept the raw values, which the help and the completions list.
extension DeliveryRecord.State: ExpressibleByArgument {}

/// The form of a delivery in the output of `--json`.
extension DeliveryRecord {
    /// The same object as in the operations API. On one line, without a line end.
    fileprivate func json(_ wait: DeliveryWait?) -> String { JSONText.object { $0.delivery(self, wait: wait) } }
}
