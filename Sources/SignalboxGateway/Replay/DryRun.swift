import SignalboxJSON
package import SignalboxNotification
package import SignalboxRouting

/// A replay that prints routing decisions and neither stores nor sends an event. It needs no data directory, so it
/// can run while a gateway uses it. Counts neither matches of routes nor failures of transformations.
package struct DryRun {
    private let session: ReplaySession
    private let recording: Recording
    private let asJSON: Bool
    /// The failure rules of the config; nil if the run applies none.
    private let failures: RecordedFailures?

    /// `config`: its routes decide; its destinations need no secrets. The normalizer must come from the same config.
    /// Throws ``ReplayError/refused(_:)`` for an invalid selection.
    package init(
        _ options: ReplayOptions, by normalizer: Normalizer, _ config: RoutedConfig, in session: ReplaySession
    ) throws {
        self.session = session
        failures = options.appliesFailures ? RecordedFailures(config.failures, hashedBy: normalizer.tokens) : nil
        recording = try Recording(
            options, by: normalizer, config.config, config.routes, in: session, failures: failures)
        asJSON = options.printsJSON
    }

    /// Runs to the end of the input or the limit. `write` receives lines for standard output. Returns true if a
    /// payload was rejected. Blocks until ^C, the limit or the end of the input. Throws ``ReplayError`` for an input
    /// that cannot be read; the tables are written then too.
    package func run(write: ([UInt8]) -> Void) async throws -> Bool {
        let (recording, asJSON) = (recording, asJSON)
        var failures = self.failures
        let applies = failures != nil
        // The tables are written however the run ends.
        defer { session.report(failures?.report(json: asJSON) ?? "") }
        _ = try await session.untilEnd {
            try await session.reading().run { block, parser in
                // Failure rules count in the order of the recording, so workers cannot apply them.
                var none: RecordedFailures?
                let limit = applies ? 0 : Int.max
                return recording.decisions(of: block, upTo: limit, asJSON: asJSON, failing: &none, with: parser)
            } consume: { block, all in
                if session.interruption.happened { throw ReplayError.interrupted }
                session.recordReading(block)
                let room = session.room
                let decisions =
                    applies || all.tally.events >= room
                    ? ParallelReading.parsers.withParser {
                        recording.decisions(of: block, upTo: room, asJSON: asJSON, failing: &failures, with: $0)
                    } : all
                let isLast = decisions.tally.events >= room
                write(decisions.lines)
                session.add(decisions.tally)
                for rejection in decisions.rejections { try session.add(rejection, of: block.input) }
                try session.reached(block.end)
                if isLast { throw ReplayError.limitReached }
            }
        }
        try session.end(isComplete: true)
        return session.rejected > 0
    }
}

/// Routing decisions for the events of a block: a line each, and counts. A block has its own, so that workers share
/// nothing. Selected events only; the limit is applied by the caller.
package struct Decisions: Sendable {
    /// Text or JSON as bytes of UTF-8, each line with its line end.
    package private(set) var lines: [UInt8] = []
    /// Counts of the same events.
    package private(set) var tally = ReplayTally()
    /// In the order of the input.
    package private(set) var rejections: [Rejection] = []

    /// A rejection makes no line.
    mutating func add(_ rejection: Rejection) { rejections.append(rejection) }

    /// `asJSON`: one object a line instead of text. `event`: for its vendor, kind and warnings.
    mutating func add(_ decision: RouteTable.Decision, of event: PushNotification, asJSON: Bool) {
        tally.add(
            vendor: event.vendor.name, routes: decision.routes,
            warnings: event.warnings.isEmpty ? [] : event.warnings.map(\.code))
        if asJSON { lines += Self.json(decision, of: event) } else { write(decision, of: event) }
    }

    /// A line for a person, such as `braze/alert -> crm (alerts)`.
    private mutating func write(_ decision: RouteTable.Decision, of event: PushNotification) {
        lines += event.vendor.name.utf8
        lines.append(UInt8(ascii: "/"))
        lines += event.kind.rawValue.utf8
        lines += " -> ".utf8
        if decision.targets.isEmpty { lines += "no destination".utf8 }
        write(decision.targets.lazy.map(\.destination.name))
        if !decision.routes.isEmpty {
            lines += " (".utf8
            write(decision.routes)
            lines.append(UInt8(ascii: ")"))
        }
        lines.append(UInt8(ascii: "\n"))
    }

    /// Writes the names, separated by commas.
    private mutating func write(_ names: some Sequence<String>) {
        var isFirst = true
        for name in names {
            if !isFirst { lines += ", ".utf8 }
            isFirst = false
            lines += name.utf8
        }
    }

    /// The members are `vendor`, `kind`, `routes` and `destinations`; its line end is included.
    private static func json(_ decision: RouteTable.Decision, of event: PushNotification) -> [UInt8] {
        .jsonLine { json in
            json.member("vendor", event.vendor.name)
            json.member("kind", event.kind.rawValue)
            json.member("routes", decision.routes)
            json.member("destinations", decision.destinations.map(\.name))
        }
    }
}
