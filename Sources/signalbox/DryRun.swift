import ArgumentParser
import Foundation
import SignalboxConfig
import SignalboxGateway
import SignalboxNotification
import SignalboxRouting

/// A replay that only prints where events would go.
struct DryRun {
    private let command: Replay
    private let session: ReplaySession

    init(_ command: Replay, interruption: Interruption) throws {
        self.command = command
        session = try ReplaySession(command, interruption: interruption)
    }

    /// Returns whether something was rejected.
    func run() async throws -> Bool {
        let loaded = try command.options.loadConfig()
        let config = loaded.config
        try command.selection.checkVendors(config)
        let source = command.source ?? .default
        let recording = Recording(
            normalizer: try NormalizerOptions(command.options).makeNormalizer(), routes: loaded.routes, source: source,
            vendor: config.sourceVendors[source], envelope: command.envelope.recorded,
            selection: try command.selection.selection(now: session.began), now: { Date() })
        let asJSON = command.json
        var output = StandardOutput()
        // What was decided is told, however it ends.
        defer {
            output.flush()
            session.report()
        }
        _ = try await session.untilEnd {
            try await session.reading().run { block, parser in
                recording.decisions(of: block.recording, upTo: .max, asJSON: asJSON, with: parser)
            } consume: { block, all in
                if session.interruption.happened { throw ReplayEnd.interrupted }
                session.noteReading(block)
                let isLast = all.tally.events >= session.room
                let decisions =
                    isLast
                    ? ParallelReading.parsers.withParser {
                        recording.decisions(of: block.recording, upTo: session.room, asJSON: asJSON, with: $0)
                    } : all
                output.write(decisions.lines)
                session.add(decisions.tally)
                for rejection in decisions.rejections { try session.add(rejection, of: block.input) }
                try session.reached(block.end)
                if isLast { throw ReplayEnd.limit }
            }
        }
        try session.end(isComplete: true)
        return session.rejected > 0
    }
}
