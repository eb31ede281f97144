import Dispatch
import Foundation
import SignalboxConfig
import SignalboxEgress
import SignalboxGateway
import SignalboxNotification
import SignalboxRouting
import SignalboxServer
import SignalboxStore

/// What a gateway does under one config: everything that is made of it, and nothing that outlives it.
struct GatewayPlan: Sendable {
    let config: GatewayConfig
    let routes: RouteTable
    let standing: ConfigStanding
    let normalizer: Normalizer
    let intake: Intake
    let interactions: InteractionIntake
    let links: MediaLinks
    let clients: ClientPool
    let destinations: [(destination: Destination, sender: any Sender)]
    let deadLetters: DeadLetterEvents
    let downloads: MediaService.Setup
    /// Downloads go by it.
    private let mediaClient: OutboundHTTP
    /// By destination, a digest of the secrets and files that it is reached with.
    private let secrets: [DestinationName: [UInt8]]

    /// What lasts from one config to the next.
    struct Foundations: Sendable {
        let queue: SQLiteQueue
        let media: MediaStore
        let tokens: TokenHash
        let counts: RouteCounts
        /// What built-in inboxes show.
        let show: @Sendable (String) -> Void
    }

    /// Makes all that a config asks for, or says why it cannot. `path`: of the config. `former`: the plan
    /// that this one follows, whose connections go on being used.
    init(
        _ loaded: RoutedConfig, path: String, on foundations: Foundations, following former: GatewayPlan? = nil
    ) throws(ConfigRefusal) {
        let (config, routes) = (loaded.config, loaded.routes)
        self.config = config
        self.routes = routes
        standing = ConfigStanding(digest: config.origin.digest, since: Date())
        let queue = foundations.queue
        normalizer = Normalizer(
            chain: try ConfigFile.chain(config), gateway: config.gateway.name, tokens: foundations.tokens,
            keepsPayloads: !routes.payloadTakers.isEmpty, showsPayloads: routes.includesPayloads,
            mediaStatus: .skipped, actions: config.actions, categories: config.categories.statics)
        links = try ConfigFile.mediaLinks(config, path: path)
        intake = Intake(
            normalizer: normalizer, routes: routes, queue: queue, sources: config.sources,
            counts: foundations.counts)
        let shaping = EventShaping(tokens: foundations.tokens, counts: foundations.counts)
        interactions = InteractionIntake(
            gateway: config.gateway.name, routes: routes,
            decider: Self.decider(types: config.actions, media: foundations.media, links: links), queue: queue,
            shaping: shaping)
        clients =
            former.flatMap { $0.config.egressAllow == config.egressAllow ? $0.clients : nil }
            ?? ClientPool(allow: config.egressAllow)
        var destinations: [(Destination, any Sender)] = []
        var secrets: [DestinationName: [UInt8]] = [:]
        for destination in config.destinations {
            let sender = try Self.sender(for: destination, path: path, clients: clients, show: foundations.show)
            destinations.append((destination, sender))
            if case .webhook(let webhook) = destination.endpoint {
                secrets[destination.name] = ConfigFile.digest(ofSecretsOf: webhook)
            }
        }
        self.destinations = destinations
        self.secrets = secrets
        deadLetters = DeadLetterEvents(
            gateway: config.gateway.name, routes: routes, shaper: shaping.shaper)
        try ConfigFile.checkFiles(of: config.media.transport.tls, at: "/media/tls", path: path)
        // By a client of their own: files are large, and their servers are anybody's.
        let (clients, allow) = (clients, config.media.allow)
        let known = former.flatMap { $0.clients === clients && $0.config.media.allow == allow ? $0.mediaClient : nil }
        let client = known ?? clients.separateClient(allowing: allow)
        mediaClient = client
        downloads = Self.downloads(loaded, foundations.media, links, client, shaping.shaper)
    }

    var senders: [DestinationName: any Sender] {
        Dictionary(uniqueKeysWithValues: destinations.map { ($0.destination.name, $0.sender) })
    }

    /// Whether a destination that both configs have is reached in the same way and with the same secrets.
    func reaches(_ name: DestinationName, as other: GatewayPlan) -> Bool {
        clients === other.clients && secrets[name] == other.secrets[name]
    }

    private static func downloads(
        _ loaded: RoutedConfig, _ store: MediaStore, _ links: MediaLinks, _ client: OutboundHTTP, _ shaper: EventShaper
    ) -> MediaService.Setup {
        let fetcher = MediaFetcher(MediaFetcher.Settings(loaded.config.media), http: client, store: store)
        let routes = loaded.routes
        return MediaService.Setup(settings: loaded.config.media) { file in
            links.href(file.sha256, now: Date())
        } shape: { event, route, parser in
            shaper.transformed(event, by: route, of: routes, with: parser)
        } download: { job in
            await fetcher.fetch(job.url, validators: job.validators)
        }
    }

    static func sender(
        for destination: Destination, path: String, clients: ClientPool, show: @escaping @Sendable (String) -> Void
    ) throws(ConfigRefusal) -> any Sender {
        switch destination.endpoint {
        case .inbox: return InboxSender(color: StandardOutput.hasColor, show: show)
        case .webhook(let webhook):
            try ConfigFile.checkFiles(
                of: webhook.transport.tls, at: "/destinations/\(destination.name)/tls", path: path)
            let keys = try ConfigFile.keys(of: webhook, named: destination.name, path: path)
            return WebhookSender(
                webhook, keys: keys,
                headers: try ConfigFile.headers(of: webhook, named: destination.name, path: path),
                clientSecret: try ConfigFile.clientSecret(of: webhook, named: destination.name, path: path),
                http: clients.client(allowing: destination.allow), version: Version.current)
        }
    }

    /// Decides about taps. Files are kept on a queue of their own: that blocks until they are on disk.
    private static func decider(types: ActionTypes, media: MediaStore, links: MediaLinks) -> TapDecider {
        let files = DispatchQueue(label: "signalbox.media")
        return TapDecider(types: types) { bytes in
            try await withCheckedThrowingContinuation { done in
                files.async {
                    done.resume(
                        with: Result {
                            let file = try media.keep(bytes)
                            return TapOutcome.CalendarMedia(
                                sha256: file.sha256, bytes: file.bytes, href: links.href(file.sha256, now: Date()))
                        })
                }
            }
        }
    }
}

extension MediaFetcher.Settings {
    fileprivate init(_ media: GatewayConfig.Media) {
        self.init(userAgent: "signalbox/" + Version.current)
        rules.allowsHTTP = media.allowHttp
        rules.kinds = Set(MediaKind.allCases.filter { media.types.contains($0.contentType) })
        rules.limits = media.maxBytes
        timeout = media.timeout
        transport = media.transport
    }
}
