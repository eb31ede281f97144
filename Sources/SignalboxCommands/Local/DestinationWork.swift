package import Foundation
package import SignalboxConfig
import SignalboxEgress
import SignalboxGateway
import SignalboxJSON
package import SignalboxNotification
import SignalboxServer
package import SignalboxStore

/// The work of `signalbox destinations`.
package enum DestinationWork {
    /// The destination of that name in a config. Throws for an unknown name, with the nearest one. `file`: the path of
    /// the config.
    package static func find(_ name: String, in config: GatewayConfig, _ file: String) throws(CommandFailure)
        -> Destination
    {
        if let destination = config.destinations.first(where: { $0.name.name == name }) { return destination }
        let known = config.destinations.map(\.name.name)
        throw .refused(KnownNames.refusal("destination", name, among: known, else: "\(file) has none of that name."))
    }

    /// The name of a destination that may be resumed. Also one that is no longer in the config: the queue keeps its
    /// pause. Throws for any other unknown name. `file`: the path of the config.
    package static func resumable(
        _ name: String, in config: GatewayConfig, _ queue: any Store, _ file: String
    ) async throws -> DestinationName {
        let destination = DestinationName(name)
        return try await queue.statuses()[destination] == nil ? find(name, in: config, file).name : destination
    }

    /// A line for each destination of the config or the queue, sorted by name. Counts are read from indexes. With
    /// `asJSON` each line is one object, otherwise the lines are a table.
    package static func lines(_ config: GatewayConfig, _ queue: any Store, asJSON: Bool) async throws -> [String] {
        let (statuses, gauges) = (try await queue.statuses(), try await queue.gauges())
        return asJSON
            ? DestinationView.all(config.destinations, statuses, gauges).map { $0.json(now: queue.now) }
            : DestinationTable.lines(config, statuses, gauges)
    }

    /// The end of a pause that ``pause(_:until:reason:in:now:asJSON:)`` accepts; nil for nil.
    package static func end(_ until: String?, now: Date) throws(CommandFailure) -> Date? {
        guard let until else { return nil }
        guard let end = PauseEnd.date(until, now: now) else {
            throw .refused("Invalid end \(until): write \(PauseEnd.words).")
        }
        return end
    }

    /// Pauses a destination; returns the result as text. `until`: RFC 3339, or a duration from now; nil for a pause
    /// without an end. Durable when it returns. Throws for a text that is neither.
    package static func pause(
        _ destination: Destination, until: String?, reason: String?, in queue: any Store, now: Date, asJSON: Bool
    ) async throws -> String {
        let end = try Self.end(until, now: now)
        try await queue.set(
            .paused, of: destination.name, until: end,
            as: .command("destinations.pause", target: destination.name.name, until: end, reason: reason))
        guard asJSON else { return "\(destination.name) paused; its deliveries wait." }
        return JSONText.members { json in
            json.member("name", destination.name.name)
            json.member("state", "paused")
            json.member("until", end.map { Timestamp($0).text })
        }
    }

    /// Ends every reason why the destination waits; returns the result as text. Durable when it returns.
    package static func resume(
        _ destination: DestinationName, reason: String?, in queue: any Store, asJSON: Bool
    ) async throws -> String {
        try await queue.set(
            nil, of: destination, as: .command("destinations.resume", target: destination.name, reason: reason))
        guard asJSON else { return "\(destination) resumed." }
        return JSONText.members { json in
            json.member("name", destination.name)
            json.member("state", "active")
        }
    }

    /// Sends a test event from this process. Requests a permission if the destination needs one, makes one attempt
    /// without retries, and records neither. Returns the result as text, and whether the destination accepted the
    /// event. Throws ``ConfigRefusal`` if a secret cannot be read.
    package static func ping(
        _ destination: Destination, _ config: GatewayConfig, secrets: SecretResolver, version: String, asJSON: Bool
    ) async throws -> (text: String, wasTaken: Bool) {
        let clients = ClientPool(allow: config.egressAllow)
        defer { clients.stop() }
        // With JSON, standard output holds the result alone.
        let inbox =
            asJSON
            ? InboxSender(color: StandardError.hasColor) { StandardError.write($0) }
            : InboxSender(color: StandardOutput.hasColor) { StandardOutput.print($0) }
        let sender = GatewayPlan.sender(
            for: destination, try ResolvedConfig.WebhookSecrets(of: destination, by: secrets), clients: clients,
            version: version, inbox: inbox)
        let lease = OperationalEvent(gateway: config.gateway.name).pingLease(to: destination.name)
        let ping = await sender.ping(lease)
        guard asJSON else { return ("\(destination.name): \(ping.words)", ping.wasTaken) }
        let json = JSONText.members { json in
            json.member("taken", ping.wasTaken)
            json.member("status", ping.status)
            json.member("durationMs", ping.duration)
            json.member("detail", ping.words)
        }
        return (json, ping.wasTaken)
    }
}
