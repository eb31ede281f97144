import ArgumentParser
import Foundation
import SignalboxCommands
import SignalboxConfig
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxRouting
import SignalboxServer

/// Needs neither queue nor network. Prints how the vendor was found, the decision of each route, and the
/// destinations. Without a config there are no routes to explain. The text is for people and may change between
/// versions. Programs use `POST /v1/routes/test`.
struct Explain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Explain how a payload is recognised and where its event would be delivered.")

    /// May be compressed by gzip or zstd, as for `normalize`. A payload, not an event: a CloudEvents envelope is read
    /// as a payload like any other object.
    @Argument(help: "A file with one payload; - or nothing is standard input.", completion: .file())
    var file = "-"

    /// The config adds vendors, sources and routes. Tokens are hashed with the key of the data directory if it has
    /// one.
    @OptionGroup var options: GatewayOptions

    /// The vendor that the config gives this source counts as in the gateway. Need not be in the config. Text that
    /// ``NameRule`` rejects is a usage error.
    @Option(help: "Name of the source.", transform: { try SourceName(argument: $0) })
    var source = SourceName.default

    /// Has the origin of each value of the event, which the text lacks.
    @Flag(help: "Print one JSON object, as `POST /v1/explain` answers.") var json = false

    /// Exits with 1 for an input that the gateway would reject. Stores no event. The sections are printed as they are
    /// made, so the recognition is shown even if a later step rejects the payload.
    func run() async throws {
        let inputs = InputFiles([file])
        StandardError.announceInput([file], of: "a payload")
        let body = try InputTexts.payload(inputs)
        let loaded = try options.optionalConfig()
        let config = loaded.config
        let (normalizer, vendors) = (try options.normalizer(for: config), config.sourceVendors)
        let explanation = Explanation(
            normalizer, chain: config.vendorChain, routes: loaded.routes, failures: loaded.failures,
            as: Reception(from: source, at: Date(), vendor: vendors[source]))
        do throws(Rejection) {
            if json {
                let explainer = PayloadExplainer(normalizer, loaded, vendors: vendors)
                let result = try await explainer.explanation(of: body, from: source, at: Date())
                return StandardOutput.print(JSONText.object { $0.explanation(result) })
            }
            try explanation.explain(body) { StandardOutput.print($0) }
        } catch {
            let text =
                explanation.holdsSeveral(body)
                ? "\(inputs.name(of: 0)) holds several payloads; explain takes one, an object by itself."
                : error.message
            throw CommandFailure.incomplete(text)
        }
    }
}
