import ArgumentParser
import Foundation
import SignalboxCommands
import SignalboxConfig
import SignalboxRouting

/// Pauses and resumes are stored in the queue, so a running gateway follows them, and so does a later one. A
/// destination of the config that has never had a delivery is listed too.
struct Destinations: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "destinations", abstract: "List destinations, pause and resume them, send a test event.",
        subcommands: [List.self, Pause.self, Resume.self, Ping.self])

    /// The destination of that name. Throws for an unknown name. The config may be the empty one, which has no
    /// destinations.
    private static func find(_ name: String, _ options: GatewayOptions) throws -> (GatewayConfig, Destination) {
        let config = try options.optionalConfig().config
        return (config, try DestinationWork.find(name, in: config, options.configPath))
    }

    /// Includes destinations that only the queue knows.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List destinations and their waiting deliveries.")

        /// Without a config, the list has the destinations of the queue only, all with the state `unknown` unless
        /// they have a status.
        @OptionGroup var options: GatewayOptions
        /// The objects of the operations API, without the measurements of the running gateway.
        @Flag(help: "Print one JSON object per line.") var json = false

        /// Sorted by name. Counts are read from indexes, even in a large queue. One line per destination: state,
        /// numbers of waiting and dead deliveries, and since when and why it is not active. Exits with 0 even if every
        /// destination is down: `signalbox_destination_up` is for alerts.
        func run() async throws {
            let config = try options.optionalConfig().config
            let queue = try options.existingQueue(config)
            for line in try await DestinationWork.lines(config, queue, asJSON: json) { print(line) }
        }
    }

    /// Attempts in progress end. Its deliveries stay in the queue and keep their attempts. Their expiry continues to
    /// count.
    struct Pause: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "pause", abstract: "Pause deliveries to a destination.",
            discussion: "Events are still accepted for it. A running gateway starts no further attempt.")

        /// The config must name the destination, so a mistyped name does not pause an unknown one.
        @OptionGroup var options: GatewayOptions
        /// Must be in the config.
        @Argument(help: "Name of the destination.") var name: String
        /// Shown as the reason of the pause.
        @Option(help: "Why; the action log records it.") var reason: String?
        /// The gateway resumes the destination then. Nil: never.
        @Option(help: "When the gateway resumes it: RFC 3339, or a time from now such as 30m.") var until: String?
        @Flag(help: "Print one JSON object.") var json = false

        func validate() throws { try checkUsage { _ = try DestinationWork.end(until, now: Date()) } }

        /// Pausing a paused destination has no effect. Throws when the queue cannot be written. Durable when it
        /// returns. A running gateway notices the change at its next tick.
        func run() async throws {
            let (config, destination) = try Destinations.find(name, options)
            let queue = try options.existingQueue(config)
            print(
                try await DestinationWork.pause(
                    destination, until: until, reason: reason, in: queue, now: Date(), asJSON: json))
        }
    }

    /// Also for a destination that is neither paused nor disabled. Deliveries whose attempts are exhausted stay dead;
    /// `deliveries retry` requeues them.
    struct Resume: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "resume", abstract: "End every reason why a destination waits.",
            discussion: """
                Ends a pause, the state after a reply of 410, a missing permission, a pause that the destination \
                requested, and the wait for the next probe.
                """)

        /// The config may be missing.
        @OptionGroup var options: GatewayOptions
        /// Must be in the config, or have a state in the queue that a resumption ends.
        @Argument(help: "Name of the destination.") var name: String
        /// Not required.
        @Option(help: "Why; the action log records it.") var reason: String?
        @Flag(help: "Print one JSON object.") var json = false

        /// One write. Resuming an active destination ends its backoff: a requested pause, and the wait for the next
        /// probe. Durable when it returns. A destination that answers 410 again is disabled again.
        func run() async throws {
            let config = try options.optionalConfig().config
            let queue = try options.existingQueue(config)
            let destination = try await DestinationWork.resumable(name, in: config, queue, options.configPath)
            print(try await DestinationWork.resume(destination, reason: reason, in: queue, asJSON: json))
        }
    }

    /// Connects from this process with the secrets of the config. Needs no queue and no gateway. The egress policy
    /// applies as it does to deliveries.
    struct Ping: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "ping", abstract: "Send a signed test event to a destination, without the queue.",
            discussion: "The event has the type io.signalbox.ping. Exit code 1 if the destination did not accept it.")

        /// The config must name the destination and its secrets must be readable here.
        @OptionGroup var options: GatewayOptions
        /// Must be in the config.
        @Argument(help: "Name of the destination.") var name: String
        @Flag(help: "Print one JSON object.") var json = false

        /// Requests a permission if the destination needs one, makes one attempt without retries, and records
        /// neither. Works for a paused or disabled destination too, and does not change its state. Throws
        /// ``ConfigRefusal`` if a secret cannot be read.
        func run() async throws {
            let (config, destination) = try Destinations.find(name, options)
            let ping = try await DestinationWork.ping(
                destination, config, secrets: options.secretResolver.reading(config), version: Version.current,
                asJSON: json)
            print(ping.text)
            guard ping.wasTaken else { throw ExitCode.incomplete }
        }
    }
}
