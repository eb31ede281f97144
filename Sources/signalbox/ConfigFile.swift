import ArgumentParser
import Foundation
import SignalboxDelivery
import SignalboxJSON
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
                Array(text), detectors: Vendors.names, sourceVendors: Vendors.namedBySource, checkingEntries: mistakes)
        } catch {
            for mistake in error.mistakes { StandardError.write("\(path):\(mistake.description)\n") }
            throw .unusable
        }
    }

    /// The chain that a config asks for.
    static func chain(_ config: GatewayConfig) throws(ExitCode) -> VendorChain {
        do throws(UnknownDetector) {
            return try VendorChain(named: config.chain, custom: config.customDetectors.map { Catalogue($0) })
        } catch {
            throw refuse("detectors.chain names \(error.name); known are \(error.known.joined(separator: ", ")).")
        }
    }

    /// What is wrong in a user's own entries of the catalogue.
    private static func mistakes(_ entries: JSONValue, _ parser: JSONParser) -> [ConfigReader.Finding] {
        Catalogue.mistakes(in: entries, with: parser).map { ($0.pointer, $0.message) }
    }

    /// The tokens of all sources.
    static func tokens(_ config: GatewayConfig, path: String) throws(ExitCode) -> [SourceName: [String]] {
        var tokens: [SourceName: [String]] = [:]
        for (name, source) in config.sources {
            tokens[name] = []
            for reference in source.bearer {
                let token = try secret(reference, for: "/sources/\(name)/auth/bearer", path: path)
                if let other = tokens.first(where: { $0.key != name && $0.value.contains(token) }) {
                    throw refuse(
                        "\(path): /sources/\(name)/auth/bearer: this is also a token of \(other.key); each source needs its own."
                    )
                }
                tokens[name]?.append(token)
            }
        }
        return tokens
    }

    /// The tokens that let operators in; none of them may be a source's.
    static func adminTokens(
        _ config: GatewayConfig, sources: [SourceName: [String]], path: String
    ) throws(ExitCode) -> [String] {
        var tokens: [String] = []
        for reference in config.adminBearer {
            let token = try secret(reference, for: "/admin/auth/bearer", path: path)
            if let source = sources.first(where: { $0.value.contains(token) }) {
                throw refuse(
                    "\(path): /admin/auth/bearer: this is also a token of the source \(source.key); operators need their own."
                )
            }
            tokens.append(token)
        }
        return tokens
    }

    /// The keys that a webhook is signed with.
    static func keys(
        of webhook: Destination.Webhook, named name: DestinationName, path: String
    ) throws(ExitCode) -> WebhookKeys {
        let place = "/destinations/\(name)/secret"
        var keys: [WebhookKey] = []
        for reference in webhook.secrets {
            let text = try secret(reference, for: place, path: path)
            let key: WebhookKey
            do throws(InvalidWebhookKey) {
                key = try WebhookKey(text)
            } catch {
                throw refuse("\(path): \(place): \(error) (it comes from \(reference)).")
            }
            guard key.canSign else {
                throw refuse("\(path): \(place): \(reference) is a public key, which cannot sign; use the whsk_ key.")
            }
            keys.append(key)
        }
        return WebhookKeys(keys)
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
