package import SignalboxConfig
package import SignalboxNotification
package import SignalboxRouting

/// A config with everything that it refers to: detectors, secrets and keys. Making a ``GatewayPlan`` from it cannot
/// fail.
package struct ResolvedConfig: Sendable {
    /// The secrets of one webhook.
    package struct WebhookSecrets: Sendable {
        let keys: WebhookKeys
        let headers: [(name: String, value: String)]
        let clientSecret: String?
        let digest: [UInt8]

        /// `headers`: the webhook's own, as they are sent. `clientSecret`: of its OAuth credentials, if it has some.
        /// `digest`: digest of all secrets and TLS files, to detect that one of them changed.
        package init(
            keys: WebhookKeys, headers: [(name: String, value: String)], clientSecret: String?, digest: [UInt8]
        ) {
            self.keys = keys
            self.headers = headers
            self.clientSecret = clientSecret
            self.digest = digest
        }
    }

    package let config: GatewayConfig
    let routes: RouteTable
    let chain: VendorChain
    let links: MediaLinks
    let webhooks: [DestinationName: WebhookSecrets]

    /// `chain`: the detectors that the config names. `links`: signs the links to stored files, if the config asks for
    /// it. `webhooks`: one for each destination that is a webhook.
    package init(
        _ loaded: RoutedConfig, chain: VendorChain, links: MediaLinks, webhooks: [DestinationName: WebhookSecrets]
    ) {
        config = loaded.config
        routes = loaded.routes
        self.chain = chain
        self.links = links
        self.webhooks = webhooks
    }
}
