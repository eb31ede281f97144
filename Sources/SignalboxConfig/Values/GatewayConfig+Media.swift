package import SignalboxNotification

extension GatewayConfig {
    /// What the config says of pictures, sounds and films that payloads point to.
    package struct Media: Sendable, Equatable {
        package var maxBytes = MediaLimits()
        /// From the start of a download to its last byte, redirects included.
        package var timeout: Duration = .seconds(20)
        /// MIME types of what is kept, each as `MediaKind.contentType` spells it.
        package var types = MediaKind.attachments.map(\.contentType)
        /// Whether URLs with `http` are downloaded too.
        package var allowHttp = false
        /// Special-purpose address ranges that may be downloaded from all the same.
        package var allow: [AddressRange] = []
        /// TLS and proxy of downloads.
        package var transport = TransportOptions()
        /// Downloads under way at once.
        package var concurrency = 32
        /// Of these, from one scheme, host and port; never more than ``concurrency``.
        package var perHost = 8
        package var retry = Destination.Retry(attempts: 5, base: .seconds(2), max: .seconds(300))
        package var retention = Retention()
        /// Nil: whoever knows a file's name may have it, for ever.
        package var signedUrls: SignedUrls?

        package init() {}

        /// How long files are kept.
        package struct Retention: Sendable, Equatable {
            /// Since somebody last asked to keep it.
            package var age: Duration = .seconds(30 * 86_400)
            /// Of all files; the oldest leave first.
            package var bytes: Int64 = 10_000_000_000

            package init() {}
        }

        /// Files are handed out only to who has a link that we made, and for a time only.
        package struct SignedUrls: Sendable, Equatable {
            /// The first one signs; any of them is good.
            package var secrets: [SecretReference]
            package var expiry: Duration

            package init(secrets: [SecretReference], expiry: Duration = .seconds(7 * 86_400)) {
                self.secrets = secrets
                self.expiry = expiry
            }
        }
    }
}
