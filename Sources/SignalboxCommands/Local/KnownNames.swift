package import SignalboxConfig
import SignalboxGateway
import SignalboxNotification
import SignalboxServer
package import SignalboxStore

/// Checks names on the command line: a mistyped name would silently select nothing.
package enum KnownNames {
    /// The sentence for an unknown name: with the nearest known one, otherwise with `remedy`.
    package static func refusal(_ noun: String, _ name: String, among known: [String], else remedy: String) -> String {
        let hint = Spelling.nearest(to: name, among: known).map { "Did you mean \"\($0)\"?" } ?? remedy
        return "Unknown \(noun) \"\(name)\". \(hint)"
    }

    /// Refuses a vendor that neither the config nor an event of the queue has. Nil is accepted. Reads the whole list
    /// of events for a vendor that the config does not have.
    package static func check(vendor: String?, _ config: GatewayConfig, _ queue: any EventStore) async throws {
        guard let vendor else { return }
        let known = config.vendorNames + EventQuery.ownVendors
        guard !known.contains(vendor) else { return }
        var (filter, isStored) = (EventFilter(), false)
        filter.vendor = vendor
        try await EventSearch.newest(1, filter, in: queue) { _ in isStored = true }
        if !isStored { try check(vendor: vendor, among: known) }
    }

    /// Refuses an unknown vendor. Case matters.
    static func check(vendor: String, among known: [String]) throws(CommandFailure) {
        guard !known.contains(vendor) else { return }
        throw .refused(refusal("vendor", vendor, among: known, else: "Run signalbox vendors for the list."))
    }

    /// Refuses a kind that no event can have. Nil is accepted, and so is a destination that the config or the queue
    /// has: it is the kind of events about its dead letters.
    package static func check(
        kind: String?, _ config: GatewayConfig, _ queue: any InspectionStore
    ) async throws {
        guard let kind, !EventQuery.kinds.contains(kind) else { return }
        if try await isDestination(DestinationName(kind), config, queue) { return }
        throw CommandFailure.refused(
            refusal(
                "kind", kind, among: EventQuery.kinds + config.destinations.map(\.name.name),
                else: "Known: \(EventQuery.kinds.joined(separator: ", ")), and the names of destinations."))
    }

    /// Whether the config or the queue has a destination.
    private static func isDestination(
        _ name: DestinationName, _ config: GatewayConfig, _ queue: any InspectionStore
    ) async throws(StoreError) -> Bool {
        if config.destinations.contains(where: { $0.name == name }) { return true }
        return try await queue.knows(name)
    }

    /// Refuses a destination that neither the config nor the queue has. Nil is accepted. The refusal suggests the
    /// nearest name, or lists at most 20.
    package static func check(
        destination: String?, _ config: GatewayConfig, _ queue: any InspectionStore
    ) async throws {
        guard let destination else { return }
        if try await isDestination(DestinationName(destination), config, queue) { return }
        let counts = try await queue.counts()
        let known = Set(config.destinations.map(\.name)).union(counts.keys).map(\.name).sorted()
        throw CommandFailure.refused(
            refusal(
                "destination", destination, among: known,
                else: known.isEmpty ? "The config has none." : "Known: \(known.prefix(20).joined(separator: ", "))."))
    }

    /// Refuses an event that the queue does not have. Nil is accepted.
    package static func check(event id: String?, _ queue: any IntakeStore) async throws {
        guard let id, try await queue.event(id) == nil else { return }
        throw CommandFailure.refused(unknownEvent(id))
    }

    /// The sentence for an event that the queue does not have.
    static func unknownEvent(_ id: String) -> String {
        "There is no event \(id). List the stored ones with: signalbox events list."
    }

    /// Suggests a command for an argument that is not one. `arguments`: without the name of the program. `commands`:
    /// names and their subcommands; a command without subcommands has none. `help` goes
    /// before a command. Nil if the arguments name a command.
    package static func unknownCommand(_ arguments: [String], among commands: [String: [String]]) -> String? {
        guard let first = arguments.first, !first.hasPrefix("-") else { return nil }
        if first == "help" { return unknownCommand(Array(arguments.dropFirst()), among: commands) }
        guard let members = commands[first] else {
            return refusal("command", first, among: commands.keys.sorted(), else: "Run signalbox --help for the list.")
        }
        guard let second = arguments.dropFirst().first, !members.isEmpty, !second.hasPrefix("-"),
            !members.contains(second)
        else { return nil }
        guard second != "help" else { return "Unknown command \"\(first) help\". Did you mean \"help \(first)\"?" }
        return refusal(
            "command", "\(first) \(second)", among: members.map { "\(first) \($0)" },
            else: "Run signalbox \(first) --help for the list.")
    }
}
