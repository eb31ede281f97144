package import SignalboxJSON
package import SignalboxNotification

/// What `routes.json` says, checked: names are resolved, patterns compiled, nothing in it can fail later.
package struct GatewayConfig: Sendable {
    package var gateway = Gateway()
    package var sources: [SourceName: Source] = [:]
    /// Names of the detectors to ask, in order; nil asks all of them in the registry's order.
    package var chain: [String]?
    /// The user's own entries for the catalogue of vendors, as written.
    package var customDetectors: JSONText?
    /// Special-purpose address ranges that may be connected to all the same.
    package var egressAllow: [AddressRange] = []
    package var retention = Retention()
    /// Any of these tokens lets operators in.
    package var adminBearer: [SecretReference] = []
    package var destinations: [Destination] = []
    package var routes: [RouteOptions] = []
    /// Where events go that no route takes.
    package var fallback: [DestinationName] = []
    package var actions = ActionTypes()
    package var categories = Categories()
    package var media = Media()
    /// What is odd in it and does no harm: destinations that nothing goes to, routes that nothing reaches.
    package var warnings: [ConfigMistake] = []
    /// The files in which templates are, as the config names them.
    package var templateFiles: [String] = []
    /// Where it came from; for whoever looks whether that has changed.
    package var origin = Origin()

    package init() {}

    /// The files of a config.
    package struct Origin: Sendable, Equatable {
        /// All that were read for it: its own, those beside it, templates. Not those in which secrets are.
        package var files: [String] = []
        /// The folder in which files that are added belong to it too, whether there is one or not.
        package var folder: String?
        /// SHA-256 of its own file and those beside it, one behind the other, in hexadecimal digits.
        package var digest = ""

        package init() {}

        package init(files: [String], folder: String?, digest: String) {
            self.files = files
            self.folder = folder
            self.digest = digest
        }
    }

    package struct Gateway: Sendable, Equatable {
        /// Stands in every event's `source`.
        package var name = "signalbox"
        package var publicUrl: String?
        package var listen: String?
        package var dataDirectory: String?
    }

    /// How long what has ended is kept.
    package struct Retention: Sendable, Equatable {
        /// Events all of whose deliveries have ended.
        package var ended: Duration = .seconds(7 * 86_400)
        /// Events with a dead delivery.
        package var dead: Duration = .seconds(30 * 86_400)
        /// Of the queue's file; the oldest events that have ended leave first.
        package var bytes: Int64 = 10 << 30

        package init() {}
    }

    /// Somebody who hands in payloads.
    package struct Source: Sendable, Equatable {
        /// Any of these tokens is good.
        package var bearer: [SecretReference] = []
        /// Whose payloads it hands in, for vendors whose payloads do not say so.
        package var vendor: VendorID?
        /// By what payloads count as repeats of earlier ones.
        package var dedupe: Dedupe?
    }

    /// Of events with equal values under a key only the first within a window is taken.
    package struct Dedupe: Sendable, Equatable {
        /// Into the event.
        package var key: JSONPointer
        package var window: Duration

        package init(key: JSONPointer, window: Duration) {
            self.key = key
            self.window = window
        }
    }

    /// The sources that are configured for a vendor.
    package var sourceVendors: [SourceName: VendorID] { sources.compactMapValues(\.vendor) }
}

/// A webhook endpoint, or what is built in instead of one.
package struct Destination: Sendable, Equatable {
    package let name: DestinationName
    package var endpoint: Endpoint
    /// Requests under way at once.
    package var concurrency = 16
    package var retry = Retry()
    /// Attempts that begin in a second in the long run; nil for no limit.
    package var perSecond: Double?
    package var breaker = Breaker()
    package var ordering: Ordering?
    /// Special-purpose address ranges that this destination may be in all the same.
    package var allow: [AddressRange] = []

    package init(name: DestinationName, endpoint: Endpoint) {
        self.name = name
        self.endpoint = endpoint
    }

    /// Whether it gets the payload as it came.
    package var wantsPayload: Bool {
        if case .webhook(let webhook) = endpoint { webhook.format.needsPayload } else { false }
    }

    /// How its deliveries are gathered into requests; nil where each has one of its own.
    package var batch: Batch? {
        if case .webhook(let webhook) = endpoint { webhook.format.batch } else { nil }
    }

    package enum Endpoint: Sendable, Equatable {
        case webhook(Webhook)
        /// Shows events on the gateway's own standard output.
        case inbox
    }

    package struct Webhook: Sendable, Equatable {
        /// `http` or `https`.
        package var url: String
        /// Standard Webhooks keys to sign with, `whsec_` or `whsk_`: one, or several while they are being replaced.
        package var secrets: [SecretReference]
        /// From the start of an attempt to the last byte of its reply.
        package var timeout: Duration
        package var format: Format = .cloudEvents
        package var compression: Compression?
        package var transport = TransportOptions()
        /// No two alike, and none of those that the gateway sets.
        package var headers: [Header] = []
        /// When set, every request bears an access token.
        package var credentials: ClientCredentials?
        /// When set, nothing is sent before the webhook has permitted it.
        package var handshake: Handshake?

        package init(url: String, secrets: [SecretReference], timeout: Duration = .seconds(15)) {
            self.url = url
            self.secrets = secrets
            self.timeout = timeout
        }
    }

    /// When a destination that keeps failing is left alone.
    package struct Breaker: Sendable, Equatable {
        /// In a row.
        package var failures = 20
        /// How long it is left alone before one attempt is made.
        package var probe: Duration = .seconds(30)

        package init() {}
    }

    /// One delivery after the other, among those of equal keys.
    package struct Ordering: Sendable, Equatable {
        /// Into the event; nil for its `subject`.
        package var key: JSONPointer?

        package init(key: JSONPointer? = nil) { self.key = key }
    }

    /// Exponential backoff with full jitter: before attempt n+1 a random time up to min(max, base · 2ⁿ⁻¹).
    package struct Retry: Sendable, Equatable {
        /// Including the first one.
        package var attempts = 12
        package var base: Duration = .seconds(5)
        package var max: Duration = .seconds(6 * 3600)

        package init() {}

        package init(attempts: Int, base: Duration, max: Duration) {
            self.attempts = attempts
            self.base = base
            self.max = max
        }
    }
}
