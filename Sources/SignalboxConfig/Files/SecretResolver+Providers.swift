package import SignalboxNotification

extension SecretResolver {
    /// The identities of a source at provider endpoints.
    package struct ProviderIdentities: Sendable {
        /// In the order of the config, with the public key as PEM.
        package let serviceAccounts: [(account: GatewayConfig.ServiceAccount, publicKey: Secret)]
        /// Server keys of FCM's legacy protocol.
        package let serverKeys: [String]
        /// Access tokens of Expo.
        package let expoTokens: [String]
    }

    /// The identities of all sources. Throws for a secret that cannot be read, and for one that two sources, or a
    /// source and the operators, share. Compares the secrets of every kind with each other: a token that identifies one
    /// source at Expo and another source at FCM would not identify the sender.
    package func providerIdentities(
        _ config: GatewayConfig
    ) throws(ConfigRefusal) -> [SourceName: ProviderIdentities] {
        var identities: [SourceName: ProviderIdentities] = [:]
        var owners: [String: SourceName] = [:]
        for (name, source) in config.sources.sorted(by: { $0.key.name < $1.key.name }) {
            let option = "/sources/\(name)"
            var accounts: [(account: GatewayConfig.ServiceAccount, publicKey: Secret)] = []
            for (position, account) in (source.fcm?.serviceAccounts ?? []).enumerated() {
                let key = try secrets([account.publicKey], "\(option)/fcm/serviceAccounts/\(position)/publicKey")[0]
                try register("\(account.email) \(account.keyID)", for: name, "\(option)/fcm/serviceAccounts", &owners)
                accounts.append((account, key))
            }
            let keys = try secrets(source.fcm?.keys ?? [], "\(option)/fcm/keys").map(\.text)
            let tokens = try secrets(source.expo, "\(option)/expo/tokens").map(\.text)
            for project in source.fcm?.projects ?? [] {
                try register("project " + project, for: name, "\(option)/fcm/projects", &owners)
            }
            for key in keys { try register("secret " + key, for: name, "\(option)/fcm/keys", &owners) }
            for token in tokens { try register("secret " + token, for: name, "\(option)/expo/tokens", &owners) }
            for (references, option) in [
                (source.bearer, option + "/auth/bearer"), (source.apns?.secrets ?? [], option + "/apns/secrets"),
            ] {
                for secret in try secrets(references, option) {
                    try register("secret " + secret.text, for: name, option, &owners)
                }
            }
            identities[name] = ProviderIdentities(serviceAccounts: accounts, serverKeys: keys, expoTokens: tokens)
        }
        for secret in try operatorSecrets(config) {
            guard let owner = owners["secret " + secret.text] else { continue }
            throw refusal(secret.option, "this is also an identity of \(owner); operators need their own")
        }
        return identities
    }

    /// Throws if another source has the identity.
    private func register(
        _ identity: String, for name: SourceName, _ option: String, _ owners: inout [String: SourceName]
    ) throws(ConfigRefusal) {
        let owner = owners[identity] ?? name
        guard owner == name else {
            throw refusal(option, "this is also an identity of \(owner); each source needs its own")
        }
        owners[identity] = name
    }
}
