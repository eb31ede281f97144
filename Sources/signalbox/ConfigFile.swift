import ArgumentParser
import Foundation
import SignalboxDelivery
import SignalboxModel
import SignalboxRouting
import SignalboxVendors

/// A config read from a file, or the sentence on standard error that says why it was not.
enum ConfigFile {
    static func load(_ path: String) throws(ExitCode) -> GatewayConfig {
        guard let text = FileManager.default.contents(atPath: path) else {
            let exists = FileManager.default.fileExists(atPath: path)
            throw refuse(
                exists
                    ? "\(path) cannot be read."
                    : "\(path): there is no such file. Write one, or name another with --config.")
        }
        do throws(InvalidConfig) {
            return try GatewayConfig.read(
                Array(text), detectors: Vendors.all.map(\.vendor.name), sourceVendors: Vendors.namedBySource)
        } catch {
            for mistake in error.mistakes { StandardError.write("\(path):\(mistake.description)\n") }
            throw .unusable
        }
    }

    /// The chain that a config asks for.
    static func chain(_ config: GatewayConfig) throws(ExitCode) -> VendorChain {
        guard let names = config.chain else { return VendorChain() }
        do throws(UnknownVendor) {
            return try VendorChain(named: names)
        } catch {
            throw refuse("detectors.chain names \(error.name); known are \(error.known.joined(separator: ", ")).")
        }
    }

    /// The tokens of all sources.
    static func tokens(_ config: GatewayConfig, path: String) throws(ExitCode) -> [SourceName: [String]] {
        var tokens: [SourceName: [String]] = [:]
        for (name, source) in config.sources {
            tokens[name] = []
            for reference in source.bearer {
                tokens[name]?.append(try secret(reference, for: "/sources/\(name)/auth/bearer", path: path))
            }
        }
        return tokens
    }

    /// The signing secret of a webhook.
    static func secret(
        of webhook: Destination.Webhook, named name: DestinationName, path: String
    ) throws(ExitCode) -> WebhookSecret {
        let place = "/destinations/\(name)/secret"
        let text = try secret(webhook.secret, for: place, path: path)
        do throws(InvalidWebhookSecret) {
            return try WebhookSecret(text)
        } catch {
            throw refuse("\(path): \(place): \(error) (it comes from \(webhook.secret)).")
        }
    }

    private static func secret(_ reference: SecretReference, for place: String, path: String) throws(ExitCode) -> String
    {
        do throws(UnresolvedSecret) {
            return try reference.resolve(environment: ProcessInfo.processInfo.environment)
        } catch {
            throw refuse("\(path): \(place): \(error).")
        }
    }
}
