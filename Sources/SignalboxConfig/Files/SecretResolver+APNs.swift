package import SignalboxNotification

extension SecretResolver {
    /// The keys and secrets of a source at the APNs endpoint.
    package struct APNsSecrets: Sendable {
        /// The PEM of each of the source's ``GatewayConfig/APNsSource/keys``, in their order.
        package let publicKeys: [Secret]
        /// The secrets in paths.
        package let pathSecrets: [Secret]
    }

    /// The keys and secrets of the sources that have `apns`. Throws for a secret that cannot be read. Other sources
    /// have no entry.
    package func apnsSecrets(_ config: GatewayConfig) throws(ConfigRefusal) -> [SourceName: APNsSecrets] {
        var all: [SourceName: APNsSecrets] = [:]
        for (name, source) in config.sources {
            guard let apns = source.apns else { continue }
            let option = "/sources/\(name)/apns"
            var keys: [Secret] = []
            for (position, key) in apns.keys.enumerated() {
                let place = "\(option)/keys/\(position)/publicKey"
                guard let reference = key.publicKey else { throw refusal(place, "a key needs its publicKey") }
                keys += try secrets([reference], place)
            }
            all[name] = APNsSecrets(publicKeys: keys, pathSecrets: try secrets(apns.secrets, "\(option)/secrets"))
        }
        return all
    }

    /// The error for two sources with the same key, certificate or secret, which could not tell them apart. `proof`:
    /// the name of the credential in the sentence. `option`: below the source's `apns`.
    package func refusal(of proof: String, shared source: SourceName, with other: SourceName, option: String)
        -> ConfigRefusal
    {
        refusal("/sources/\(source)/apns/\(option)", "\(proof) also belongs to \(other); each source needs its own")
    }
}
