package import SignalboxConfig

/// The identities of the sources at provider endpoints, with keys and tokens. Holds secrets, so it must not be logged.
package struct ProviderSenders: Sendable {
    /// The senders of the APNs endpoint.
    let apns: APNsSenders

    /// Reads the secrets of a config. Throws for one that cannot be read, that two sources share, or that is not the
    /// key that its option requires.
    package init(_ config: GatewayConfig, by resolver: SecretResolver) throws(ConfigRefusal) {
        apns = try APNsSenders(config, by: resolver)
    }
}
