import ArgumentParser
import Foundation
import Logging
import ServiceLifecycle
import SignalboxDelivery
import SignalboxEgress
import SignalboxJSON
import SignalboxModel
import SignalboxPipeline
import SignalboxRouting
import SignalboxStore

struct Replay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send recorded payloads through the whole pipeline to the destinations.",
        discussion: """
            Events go through the durable queue in --data-dir, which no gateway may be using. The run ends when every \
            delivery was tried; what is to be tried again later stays in the queue for the next replay or gateway.
            """)

    @Argument(help: "Files to read; - or nothing is standard input.", completion: .file())
    var files: [String] = []

    @OptionGroup var options: GatewayOptions

    @Option(help: "Name of the source that stands in the events.", transform: { try SourceName(argument: $0) })
    var source = SourceName.default

    @Flag(help: "Decide only: print where each payload would go, send and store nothing.")
    var dryRun = false

    @Flag(help: "Print decisions and the table as JSON.")
    var json = false

    @Option(help: "Write what was rejected to this file, as NDJSON.", completion: .file())
    var rejects: String?

    func run() async throws {
        let incomplete = try await dryRun ? decide() : deliver()
        if incomplete { throw ExitCode.incomplete }
    }

    // MARK: Dry run

    private func decide() async throws -> Bool {
        let config = try ConfigFile.load(options.configPath)
        let asJSON = json
        var output = StandardOutput()
        var tally = ReplayTally()
        let rejected = try await read(with: try NormalizerOptions(options).makeNormalizer(), config) { events in
            for routed in events {
                tally.add(routed)
                output.write(asJSON ? routed.decisionJSON : Array(routed.decision.utf8))
            }
        }
        output.flush()
        StandardError.write(tally.table(rejected: rejected, json: json))
        return rejected > 0
    }

    // MARK: For real

    private func deliver() async throws -> Bool {
        signal(SIGPIPE, SIG_IGN)
        let logger = options.makeLogger()
        let gateway = try Gateway(options, config: try ConfigFile.load(options.configPath), logger: logger) { text in
            Terminal.show(text)
        }
        defer { gateway.ways.stop() }
        let interruption = Interruption()
        let (before, scheduledBefore) = try await counts(gateway.queue)
        try await gateway.openDownloads()
        async let delivering: Void = gateway.dispatcher.runUntilDrained()
        async let downloading: Void = gateway.downloads.runUntilDrained()
        var tally = ReplayTally()
        let rejected = try await accept(into: gateway, &tally, until: interruption)
        // What was begun is waited for; the rest is in the queue.
        if interruption.happened { gateway.downloads.stop() } else { gateway.downloads.drain() }
        await downloading
        gateway.dispatcher.drain(within: interruption.happened ? .seconds(5) : nil)
        await delivering
        let (after, scheduledAfter) = try await counts(gateway.queue)
        let outcomes = DeliveryOutcomes(
            before: before, after: after, scheduled: (scheduledBefore, scheduledAfter))
        StandardError.write(tally.table(rejected: rejected ?? 0, json: json) + outcomes.text(json: json))
        Terminal.finish()
        guard let rejected else { throw ExitCode.interrupted }
        return rejected > 0 || outcomes.failed > 0
    }

    private func counts(
        _ queue: SQLiteQueue
    ) async throws -> (counts: [DestinationName: [DeliveryRecord.State: Int]], scheduled: Int) {
        try await orRefuse { () throws(StoreError) in (try await queue.counts(), try await queue.scheduledCount()) }
    }

    /// Returns how many payloads were rejected; nil when ^C ended it before the input did.
    private func accept(
        into gateway: Gateway, _ tally: inout ReplayTally, until interruption: Interruption
    ) async throws -> Int? {
        do {
            return try await read(with: gateway.normalizer, gateway.config) { events in
                if interruption.happened { throw ExitCode.interrupted }
                for routed in events { tally.add(routed) }
                _ = try await orRefuse { () throws(StoreError) in try await gateway.queue.append(events) }
            }
        } catch let code as ExitCode where code == .interrupted {
            return nil
        }
    }

    private func orRefuse<T: Sendable>(_ work: () async throws(StoreError) -> T) async throws(ExitCode) -> T {
        do throws(StoreError) { return try await work() } catch { throw refuse("\(error)") }
    }

    // MARK: Input

    /// Hands the events of each block to `take`, with their destinations; returns how many payloads were rejected.
    private func read(
        with normalizer: Normalizer, _ config: GatewayConfig, _ take: ([RoutedEvent]) async throws -> Void
    ) async throws -> Int {
        let inputs = InputFiles(files)
        let source = source
        let vendor = config.sourceVendors[source]
        let routes = config.routes
        var rejectList = try RejectList(path: rejects, several: inputs.paths.count > 1)
        var progress = Progress(totalBytes: inputs.size)
        let eventParsers = ParserPool.forEvents()
        let shaping = EventShaping(tokens: normalizer.tokens)
        try await ParallelReading(inputs: inputs).run(onBytes: { progress.have(read: $0) }) { block, parser in
            let reception = Reception(from: source, at: Date(), vendor: vendor)
            return eventParsers.withParser { eventParser in
                var results: [Result<Event, Rejection>] = []
                block.read(by: normalizer, as: reception, with: parser) {
                    results.append($0)
                    return true
                }
                return RoutedBlock(results.map { routes.route($0, with: eventParser, shaping: shaping) })
            }
        } consume: { input, block in
            try await take(block.events)
            for rejection in block.rejections { try rejectList.add(rejection, in: input) }
            progress.count(block.events.count, rejected: rejectList.count)
        }
        progress.end()
        return rejectList.count
    }
}

/// What a block of payloads became: events with their destinations, and what was rejected.
private struct RoutedBlock: Sendable {
    private(set) var events: [RoutedEvent] = []
    private(set) var rejections: [Rejection] = []

    init(_ results: [Result<RoutedEvent, Rejection>]) {
        for result in results {
            switch result {
            case .success(let event): events.append(event)
            case .failure(let rejection): rejections.append(rejection)
            }
        }
    }
}

extension RoutedEvent {
    /// Where it would go, as a line for a person.
    fileprivate var decision: String {
        let names = destinations.isEmpty ? "nowhere" : destinations.map(\.name).joined(separator: ", ")
        return "\(event.subject) -> \(names)" + (routes.isEmpty ? "\n" : " (\(routes.joined(separator: ", ")))\n")
    }

    /// Where it would go, as a line of JSON.
    fileprivate var decisionJSON: [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.key("vendor")
        json.string(event.vendor.name)
        json.key("kind")
        json.string(event.kind.rawValue)
        json.key("routes")
        json.strings(routes)
        json.key("destinations")
        json.strings(destinations.map(\.name))
        json.endObject()
        json.newline()
        return json.bytes
    }
}
