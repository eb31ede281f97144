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

    @Option(help: "Name of the source that stands in the events.")
    var source = SourceName.default.name

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
        let normalizer = try NormalizerOptions(options).makeNormalizer()
        var output = StandardOutput()
        var tally = ReplayTally()
        let rejected = try await read(with: normalizer) { event, parser in
            let decision = config.routes.decide(event, with: parser)
            tally.add(event, routes: decision.routes)
            if json {
                output.line(decision.json(for: event))
            } else {
                output.line("\(event.subject) -> \(decision.words)")
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
            FileHandle.standardOutput.write(Data(text.utf8))
        }
        defer { gateway.http.stop() }
        let before = try await orRefuse { () throws(StoreError) in try await gateway.queue.counts() }
        async let delivering: Void = gateway.dispatcher.runUntilDrained()
        let (tally, rejected) = try await accept(into: gateway)
        gateway.dispatcher.drain()
        await delivering
        let after = try await orRefuse { () throws(StoreError) in try await gateway.queue.counts() }
        let outcomes = DeliveryOutcomes(before: before, after: after)
        StandardError.write(tally.table(rejected: rejected, json: json) + outcomes.text(json: json))
        return rejected > 0 || outcomes.failed > 0
    }

    private func accept(into gateway: Gateway) async throws -> (ReplayTally, rejected: Int) {
        var tally = ReplayTally()
        var batch: [RoutedEvent] = []
        let rejected = try await read(with: gateway.normalizer) { event, parser in
            let routed = gateway.intake.route(event, with: parser)
            tally.add(event, routes: routed.routes)
            batch.append(routed)
            if batch.count >= 512 {
                let full = batch
                batch = []
                try await orRefuse { () throws(StoreError) in try await gateway.intake.append(full) }
            }
        }
        let rest = batch
        try await orRefuse { () throws(StoreError) in try await gateway.intake.append(rest) }
        return (tally, rejected)
    }

    private func orRefuse<T: Sendable>(_ work: () async throws(StoreError) -> T) async throws(ExitCode) -> T {
        do throws(StoreError) { return try await work() } catch { throw refuse("\(error)") }
    }

    // MARK: Input

    /// Hands every event to `take`; returns how many payloads were rejected.
    private func read(
        with normalizer: Normalizer, _ take: (Event, JSONParser) async throws -> Void
    ) async throws -> Int {
        let inputs = InputFiles(files)
        var rejectList = try RejectList(path: rejects, several: inputs.paths.count > 1)
        var progress = Progress(totalBytes: inputs.size)
        let payloads = Normalizer.makeParser()
        let events = Normalizer.makeParser()
        try await inputs.forEach { name, read in
            var reader = PayloadReader(normalizer: normalizer, source: SourceName(source), parser: payloads)
            var hasMore = true
            while hasMore {
                hasMore = try read { piece in
                    progress.read(piece.count)
                    if piece.isEmpty { reader.finish() } else { reader.append(piece) }
                }
                while let result = reader.next(receivedAt: Date()) {
                    switch result {
                    case .success(let event): try await take(event, events)
                    case .failure(let rejection): try rejectList.add(rejection, in: name)
                    }
                    progress.count(rejected: rejectList.count)
                }
            }
        }
        progress.end()
        return rejectList.count
    }
}

extension RouteTable.Decision {
    fileprivate var words: String {
        let names = destinations.isEmpty ? "nowhere" : destinations.map(\.name).joined(separator: ", ")
        return routes.isEmpty ? names : "\(names) (\(routes.joined(separator: ", ")))"
    }

    fileprivate func json(for event: Event) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.key("vendor")
        json.string(event.vendor.name)
        json.key("kind")
        json.string(event.kind.rawValue)
        json.key("routes")
        json.beginArray()
        for route in routes { json.string(route) }
        json.endArray()
        json.key("destinations")
        json.beginArray()
        for destination in destinations { json.string(destination.name) }
        json.endArray()
        json.endObject()
        return json.bytes
    }
}
