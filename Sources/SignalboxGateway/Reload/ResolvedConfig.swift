package import SignalboxConfig
import SignalboxEgress
import SignalboxNotification
package import SignalboxRouting

extension RoutedConfig {
    /// Reads and checks a config. Its `origin` lists the files that were read, and the folder of further files.
    /// Throws all errors of the config. The digest covers the bytes of all files in their order.
    package init(_ files: ConfigFiles) throws(InvalidConfig) {
        try self.init(checking: files.texts)
        config.origin = GatewayConfig.Origin(
            files: files.texts.map(\.name) + config.origin.files, folder: files.folder,
            digest: hexadecimal(sha256(files.texts.flatMap(\.bytes))))
    }

    /// Reads a config and checks it, also against the events and the address policy. Throws all errors of the config.
    init(checking files: [ConfigText]) throws(InvalidConfig) {
        try self.init(files)
        config.addWarnings(ConfigEventCheck.warnings(about: config, in: files))
    }

    /// Reads and checks the config at `path`. A file that cannot be read is an error too, with the reason of the
    /// system. `orPipe`: see ``ConfigFiles/init(_:orPipe:)``.
    package init(path: String, orPipe: Bool = false) throws(ConfigRefusal) {
        let files = try ConfigFiles(path, orPipe: orPipe)
        do throws(InvalidConfig) { try self.init(files) } catch { throw ConfigRefusal(error, in: files.texts) }
    }
}

extension GatewayConfig {
    /// Adds warnings in the order of the files and positions.
    fileprivate mutating func addWarnings(_ more: [ConfigMistake]) {
        let all = warnings + more
        let keys = all.enumerated().map { ($1.file, $1.place?.lowerBound ?? 0, $0) }
        warnings = all.indices.sorted { keys[$0] < keys[$1] }.map { all[$0] }
    }
}

/// A config with everything that it refers to: detectors, secrets and keys. Making a ``GatewayPlan`` from it cannot
/// fail. It holds secrets, so it must not be logged.
package struct ResolvedConfig: Sendable {
    /// The secrets of one webhook. Two values compare by the texts of the secrets, because keys cannot be compared.
    package struct WebhookSecrets: Sendable, Equatable {
        let keys: WebhookKeys
        /// The URL, with a reference replaced.
        var url: String { texts.url }
        let clientSecret: String?
        /// The webhook's own headers, as they are sent.
        let headers: [(name: String, value: String)]
        private let texts: SecretResolver.Webhook

        /// Nil for a destination that is not a webhook. Throws if a secret is missing, is not a webhook key, or can
        /// only verify. The error names the reference, not the secret.
        package init?(of destination: Destination, by resolver: SecretResolver) throws(ConfigRefusal) {
            guard case .webhook(let webhook) = destination.endpoint else { return nil }
            texts = try resolver.webhook(webhook, of: destination.name)
            var keys: [WebhookKey] = []
            for secret in texts.signing {
                let key: WebhookKey
                do throws(InvalidWebhookKey) { key = try WebhookKey(secret.text) } catch {
                    throw resolver.refusal(of: secret, "\(error) (it comes from \(secret.reference))")
                }
                guard key.canSign else {
                    throw resolver.refusal(
                        of: secret, "\(secret.reference) is a public key, which cannot sign; use the whsk_ key")
                }
                keys.append(key)
            }
            self.keys = WebhookKeys(keys)
            clientSecret = texts.clientSecret
            headers = zip(webhook.headers, texts.headers).map { ($0.name, $1) }
        }

        /// True if all secrets and TLS files are equal.
        package static func == (one: WebhookSecrets, other: WebhookSecrets) -> Bool { one.texts == other.texts }
    }

    /// The config with its warnings; it contains references to secrets, not the secrets.
    package let config: GatewayConfig
    /// The files that the config was read from, for its history.
    let files: [ConfigText]
    let routes: RouteTable
    let failures: [FailureSelector]
    let links: MediaLinks
    let webhooks: [DestinationName: WebhookSecrets]
    /// The devices whose pushes are forwarded, of the sources that list some.
    let forwardedTokens: [SourceName: Set<String>]
    /// Nil if telemetry is not exported.
    let telemetry: SecretResolver.Telemetry?

    /// Throws if a secret or a TLS file cannot be used. Stops at the first error. The config gets warnings about the
    /// URLs that references lead to.
    package init(_ loaded: RoutedConfig, by resolver: SecretResolver) throws(ConfigRefusal) {
        var config = loaded.config
        files = loaded.files
        routes = loaded.routes
        failures = loaded.failures
        var webhooks: [DestinationName: WebhookSecrets] = [:]
        for destination in config.destinations {
            webhooks[destination.name] = try WebhookSecrets(of: destination, by: resolver)
        }
        self.webhooks = webhooks
        config.addWarnings(ConfigEventCheck.warnings(about: webhooks.mapValues(\.url), of: config, in: loaded.files))
        forwardedTokens = try resolver.forwardedTokens(config)
        telemetry = try resolver.telemetry(config.telemetry)
        let secrets = try resolver.mediaSecrets(config.media)
        links = MediaLinks(
            publicUrl: config.gateway.publicUrl, secrets: secrets, expiry: config.media.signedUrls?.expiry ?? .zero)
        self.config = config
    }
}
