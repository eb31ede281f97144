import Foundation
import SignalboxConfig
package import SignalboxGateway
import SignalboxJSON
package import SignalboxNotification
package import SignalboxRouting
import SignalboxServer

/// One run of `signalbox explain`.
package struct ExplainRun: Sendable {
    private let config: RoutedConfig
    private let normalizer: Normalizer
    private let source: SourceName

    /// `normalizer`: of the config. `source`: its configured vendor applies, as in the gateway.
    package init(_ config: RoutedConfig, by normalizer: Normalizer, from source: SourceName) {
        (self.config, self.normalizer, self.source) = (config, normalizer, source)
    }

    /// Explains the payload of a file: sections of text as they are made, so the recognition is printed even if a later
    /// step rejects the payload; or one object. Throws ``CommandFailure/incomplete(_:)`` for a payload that the gateway
    /// would reject.
    package func explain(_ file: String, asJSON: Bool, print: (String) -> Void) async throws {
        StandardError.announceInput([file], of: "a payload")
        let inputs = InputFiles([file])
        let body = try InputTexts.payload(inputs)
        let vendors = config.config.sourceVendors
        let explanation = Explanation(
            normalizer, chain: config.config.vendorChain, routes: config.routes, failures: config.failures,
            as: Reception(from: source, at: Date(), vendor: vendors[source]))
        do throws(Rejection) {
            guard asJSON else { return try explanation.explain(body, print: print) }
            let explainer = PayloadExplainer(normalizer, config, vendors: vendors)
            let result = try await explainer.explanation(of: body, from: source, at: Date())
            print(JSONText.value { $0.explanation(result) })
        } catch {
            throw CommandFailure.incomplete(
                explanation.holdsSeveral(body)
                    ? "\(inputs.name(of: 0)) holds several payloads; explain takes one, an object by itself."
                    : error.message)
        }
    }
}
