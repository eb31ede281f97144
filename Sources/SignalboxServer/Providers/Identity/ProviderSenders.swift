package import SignalboxConfig
import SignalboxEgress
import SignalboxNotification

/// The identities of the sources at provider endpoints, with keys and tokens. Holds secrets, so it must not be logged.
package struct ProviderSenders: Sendable {
    /// The senders of the APNs endpoint.
    let apns: APNsSenders
    /// Service accounts by address and key.
    private(set) var accounts: [ServiceAccountKey: GoogleAccess.Account] = [:]
    /// Server keys of FCM's legacy protocol.
    private(set) var serverKeys: [(value: SourceName, token: [UInt8])] = []
    /// Firebase projects and their owners.
    private(set) var projects: [String: SourceName] = [:]
    /// Access tokens of Expo.
    private(set) var expoTokens: [(value: SourceName, token: [UInt8])] = []
    /// The limits of the sources that have some.
    let limits: [SourceName: GatewayConfig.SourceLimits]

    /// Reads the secrets of a config. Throws for one that cannot be read, that two sources share, or that is not the
    /// public key that its option requires.
    package init(_ config: GatewayConfig, by resolver: SecretResolver) throws(ConfigRefusal) {
        apns = try APNsSenders(config, by: resolver)
        limits = config.sourceLimits
        for (name, identities) in try resolver.providerIdentities(config) {
            for (account, pem) in identities.serviceAccounts {
                guard let key = RSAPublicKey(pem: pem.text) else {
                    throw resolver.refusal(
                        of: pem, "\(pem.reference) is not an RSA key of at least 2048 bits, or its certificate, in PEM")
                }
                let id = ServiceAccountKey(email: account.email, keyID: account.keyID)
                accounts[id] = GoogleAccess.Account(source: name, key: key)
            }
            serverKeys += identities.serverKeys.map { (name, Array($0.utf8)) }
            expoTokens += identities.expoTokens.map { (name, Array($0.utf8)) }
            for project in config.sources[name]?.fcm?.projects ?? [] { projects[project] = name }
        }
    }
}

// Shows no secret, however it is printed.
extension ProviderSenders: CustomStringConvertible, CustomDebugStringConvertible {
    package var description: String { "\(accounts.count) service accounts" }
    package var debugDescription: String { description }
}
