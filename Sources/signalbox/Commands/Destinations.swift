import ArgumentParser
import Foundation
import SignalboxConfig
import SignalboxEgress
import SignalboxGateway
import SignalboxNotification
import SignalboxStore

struct Destinations: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "See who takes events, pause and resume them, send a test.",
        subcommands: [List.self, Pause.self, Resume.self, Ping.self])

    /// The destination of that name in the config.
    private static func destination(_ name: String, _ options: GatewayOptions) throws -> (GatewayConfig, Destination) {
        let config = try NormalizerOptions(options).config()
        guard let destination = config.destinations.first(where: { $0.name.name == name }) else {
            throw refuse("\(options.configPath) has no destination \(name).")
        }
        return (config, destination)
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List destinations and what waits for them.")

        @OptionGroup var options: GatewayOptions

        func run() async throws {
            let config = try NormalizerOptions(options).config()
            let queue = try Deliveries.queue(options)
            let (hindrances, gauges) = try await Deliveries.orRefuse { () throws(StoreError) in
                (try await queue.hindrances(), try await queue.gauges())
            }
            print("DESTINATION       STATE      WAITING   DEAD      SINCE / WHY")
            for name in Set(config.destinations.map(\.name)).union(gauges.keys).sorted() {
                let isKnown = config.destinations.contains { $0.name == name }
                let hindrance = hindrances[name]
                let why = hindrance.map { [Timestamp($0.since).text, $0.reason, $0.next].compactMap(\.self) } ?? []
                print(
                    [
                        name.name.column(16), (hindrance?.word ?? (isKnown ? "active" : "unknown")).column(9),
                        String(gauges[name]?.waiting ?? 0).column(8), String(gauges[name]?.dead ?? 0).column(8),
                        why.joined(separator: " "),
                    ].joined(separator: "  "))
            }
        }
    }

    struct Pause: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Let deliveries to a destination wait.",
            discussion:
                "Events go on being accepted for it. A running gateway stops at once, but for what is under way.")

        @OptionGroup var options: GatewayOptions
        @Argument(help: "Name of the destination.") var name: String

        func run() async throws {
            let (_, destination) = try Destinations.destination(name, options)
            let queue = try Deliveries.queue(options)
            let state = DestinationState(.paused, since: Date())
            try await Deliveries.orRefuse { () throws(StoreError) in try await queue.set(state, of: destination.name) }
            print("\(name) is paused; its deliveries wait")
        }
    }

    struct Resume: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Let a destination take events again that was paused, or disabled by an answer of 410.",
            discussion: "One that does not permit deliveries is asked again at once.")

        @OptionGroup var options: GatewayOptions
        @Argument(help: "Name of the destination.") var name: String

        func run() async throws {
            let (_, destination) = try Destinations.destination(name, options)
            let queue = try Deliveries.queue(options)
            try await Deliveries.orRefuse { () throws(StoreError) in try await queue.set(nil, of: destination.name) }
            print("\(name) takes events again")
        }
    }

    struct Ping: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send a signed test event to a destination, past the queue.",
            discussion: "It is an event of type io.signalbox.ping. Exit code 1 when it was not taken.")

        @OptionGroup var options: GatewayOptions
        @Argument(help: "Name of the destination.") var name: String

        func run() async throws {
            let (config, destination) = try Destinations.destination(name, options)
            let clients = ClientPool(allow: config.egressAllow)
            defer { clients.stop() }
            let sender = try GatewayPlan.sender(for: destination, path: options.configPath, clients: clients) {
                print($0)
            }
            let lease = OperationalEvent(gateway: config.gateway.name).pingLease(to: destination.name)
            let ping = await sender.ping(lease)
            print("\(name): \(ping.words)")
            guard ping.wasTaken else { throw ExitCode.incomplete }
        }
    }
}

extension Hindrance {
    fileprivate var next: String? { until.map { "(next attempt at \(Timestamp($0).text))" } }
}

extension String {
    fileprivate func column(_ width: Int) -> String {
        padding(toLength: max(width, count), withPad: " ", startingAt: 0)
    }
}
