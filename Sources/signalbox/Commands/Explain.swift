import ArgumentParser
import Foundation
import SignalboxConfig
import SignalboxEgress
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxRouting

struct Explain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say why a payload is taken for what it is, and where it would go.")

    @Argument(help: "A file with one payload; - or nothing is standard input.", completion: .file())
    var file = "-"

    @OptionGroup var options: GatewayOptions

    @Option(help: "Name of the source that it came from.", transform: { try SourceName(argument: $0) })
    var source = SourceName.default

    func run() async throws {
        let body = try await payload()
        let setup = NormalizerOptions(options)
        let loaded = try setup.loaded()
        let config = loaded.config
        let chain = try orRefuse { () throws(ConfigRefusal) in try ConfigFile.chain(config) }
        let normalizer = try setup.makeNormalizer()
        let parser = Normalizer.makeParser()
        let reception = Reception(from: source, at: Date(), vendor: config.sourceVendors[source])
        do throws(Rejection) {
            let event = try body.withUnsafeBufferPointer { bytes throws(Rejection) in
                let payload = try normalizer.recognise(bytes, at: Place(), with: parser)
                StandardOutput.print(Self.recognition(payload, by: chain, of: reception))
                return try normalizer.event(bytes, as: reception, at: Place(), with: parser)
            }
            StandardOutput.print("\nEvent\n" + Self.indented(event.body))
            StandardOutput.print("\nRoutes\n" + Self.routing(of: event, by: loaded.routes))
        } catch {
            let words =
                Self.isSeveral(body, by: normalizer, as: reception)
                ? "\(InputFiles([file]).name(of: 0)) holds a list of payloads, or several; explain takes one, an object by itself."
                : error.message
            StandardError.write("signalbox: \(words)\n")
            throw ExitCode.incomplete
        }
    }

    /// Whether what is no payload is an array, or has two or more that are whole.
    private static func isSeveral(_ body: [UInt8], by normalizer: Normalizer, as reception: Reception) -> Bool {
        var blocks = PayloadBlocks()
        body.withUnsafeBytes { blocks.append($0) }
        blocks.finish()
        var count = 0
        blocks.take().read(by: normalizer, as: reception, with: Normalizer.makeParser()) { result in
            if case .success = result { count += 1 }
            return count < 2
        }
        return blocks.isArray || count > 1
    }

    private func payload() async throws -> [UInt8] {
        var body: [UInt8] = []
        try await InputFiles([file]).forEach { file in
            while try file.read({ body.append(contentsOf: $0) }) {
                guard body.count <= Normalizer.payloadLimit else {
                    throw refuse(
                        "\(file.name) is larger than \(Normalizer.payloadLimit) bytes; explain takes one payload.")
                }
            }
        }
        return body
    }

    // MARK: In words

    private static func recognition(
        _ payload: borrowing PlatformPayload, by chain: VendorChain, of reception: Reception
    ) -> String {
        var lines = ["Platform\n  \(payload.platform.rawValue), as \(payload.envelope.rawValue)", "\nDetectors"]
        let matches = chain.matches(for: payload)
        for match in matches.all {
            let evidence = match.detection.evidence.joined(separator: ", ")
            lines.append("  \(match.vendor): yes, \(match.detection.strength) at \(evidence)")
        }
        for link in chain.links { lines += link.explain(payload).map { "  " + $0 } }
        if let vendor = reception.vendor {
            lines.append("  It is \(vendor)'s all the same: the config says so of the source \(reception.source).")
        } else {
            lines.append("  So it is " + Self.verdict(matches))
        }
        return lines.joined(separator: "\n")
    }

    private static func verdict(_ matches: VendorMatches) -> String {
        guard let winner = matches.winner else {
            return matches.all.isEmpty ? "nobody's." : "nobody's: a hint alone names nobody."
        }
        let equals = matches.all.filter { $0.detection.strength == winner.detection.strength }
        let reason =
            matches.all.count == 1
            ? "" : equals.count == 1 ? ", whose evidence is the strongest" : ", the first among equals"
        return "\(winner.vendor)'s\(reason)."
    }

    private static func indented(_ body: [UInt8]) -> String {
        guard let object = try? JSONSerialization.jsonObject(with: Data(body)),
            let pretty = try? JSONSerialization.data(
                withJSONObject: object, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
        else { return String(decoding: body, as: UTF8.self) }
        return String(decoding: pretty, as: UTF8.self)
    }

    private static func routing(of event: Event, by routes: RouteTable) -> String {
        ParserPool.forEvents().withParser { parser in
            guard let value = try? parser.parse(event.body) else { return "  The event is too large to be routed." }
            do throws(RoutingTooCostly) {
                return try routing(of: value, by: routes)
            } catch {
                return "  The gateway rejects the payload: \(error)."
            }
        }
    }

    private static func routing(of value: JSONValue, by routes: RouteTable) throws(RoutingTooCostly) -> String {
        let decision = try routes.decide(value)
        var lines: [String]
        do throws(RoutingTooCostly) {
            lines = try routes.verdicts(on: value).map { route, verdict in
                let to = verdict == .taken ? ", to " + route.destinations.map(\.name).joined(separator: ", ") : ""
                return "  \(route.name): \(verdict.words)\(to)"
            }
        } catch {
            lines = decision.routes.map { "  \($0): yes" }
            lines.append("  The reasons of the other routes take too much work to find.")
        }
        if decision.routes.isEmpty, !decision.destinations.isEmpty {
            lines.append("  fallback: to \(decision.destinations.map(\.name).joined(separator: ", "))")
        }
        if decision.destinations.isEmpty { lines.append("  It would go nowhere.") }
        return lines.joined(separator: "\n")
    }
}
