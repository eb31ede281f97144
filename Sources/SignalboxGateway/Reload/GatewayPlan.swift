import Dispatch
package import Foundation
package import SignalboxConfig
package import SignalboxEgress
import SignalboxInApp
package import SignalboxNotification
package import SignalboxRouting
package import SignalboxStore

/// Everything that a gateway makes from one config. A reload replaces the whole plan. Making a plan has no side
/// effects except for new client pools, which open no connection yet.
package struct GatewayPlan: Sendable {
    /// The config that the plan was made from.
    package let config: GatewayConfig
    /// The compiled routes, in the config's order.
    package let routes: RouteTable
    /// The failure rules of the config, for provider endpoints.
    package let failures: [PreparedFailure]
    /// Shared with the endpoint that reports the active config; a rejected reload writes to it.
    package let status: ActiveConfigStatus
    /// Shared by the intake and by commands that read payloads.
    package let normalizer: Normalizer
    /// Accepts payloads.
    package let intake: Intake
    /// Accepts reports of taps.
    package let interactions: InteractionIntake
    /// Decides about in-app messages.
    package let inApp: InAppFlow
    /// Orders deliveries of stored events.
    package let orders: ManualOrders
    /// Forwards pushes to the real push services.
    package let passThrough: PassThrough
    /// Makes and checks links to stored files.
    package let links: MediaLinks
    /// The pool that all senders of this plan use.
    let clients: ClientPool
    /// The files of the config, for its history.
    package let files: [ConfigText]
    /// In the config's order.
    let destinations: [(destination: Destination, sender: any Sender)]
    /// Makes an event of each dead delivery, for the dispatcher.
    let deadLetters: DeadLetterEvents
    /// Receives traces and metrics; nil for none.
    package let collector: OTLPCollector?
    /// The settings of the download service.
    let downloads: MediaService.Setup
    private let mediaClient: OutboundHTTP
    private let forwardClient: OutboundHTTP
    /// The secrets of each webhook.
    private let secrets: [DestinationName: ResolvedConfig.WebhookSecrets]

    /// The resources that outlive a config. One set for each process. Plans share them, so counts and tokens survive
    /// a reload.
    package struct Resources: Sendable {
        /// The queue of the data directory.
        package let queue: any Store
        /// The stored files of the data directory.
        package let media: MediaStore
        package let tokens: TokenHash
        /// Keys for other uses, which gateways with the same store share.
        package let keys: DerivedKeys
        /// Matches and failures by route, since the start of the process.
        package let counts: RouteCounts
        /// The failure rules of the API and of the active config.
        package let failures: FailureRules
        /// The last configs.
        package let history = ConfigHistory()
        /// Terminal output of built-in inboxes.
        let inbox: InboxSender
        /// The version in `user-agent` headers.
        package let version: String
        /// In-app messages and their counters.
        package let inApp: InAppFlow.Shared
        /// Forwarded pushes in progress, and their counts.
        package let forwards: ForwardLedger
        /// Traces of requests and attempts.
        package let telemetry: Telemetry
        /// The gateway's observation of its own work.
        package let observation: Observation
    }

    /// `former`: the plan that this one follows, whose connections are reused if the egress policy is the same.
    /// Cannot fail, because a resolved config has all secrets and compiled templates.
    init(_ resolved: ResolvedConfig, on resources: Resources, following former: GatewayPlan? = nil) {
        let config = resolved.config
        self.config = config
        files = resolved.files
        routes = resolved.routes
        failures = resolved.failures.map { PreparedFailure($0, hashedBy: resources.tokens) }
        links = resolved.links
        status = ActiveConfigStatus(digest: config.origin.digest, since: Date())
        // All gateways of a store agree on the time by which events are accepted and signed.
        let now: @Sendable () -> Date = { [queue = resources.queue] in queue.now }
        normalizer = Normalizer(
            chain: config.vendorChain, gateway: config.gateway.name, tokens: resources.tokens,
            keepsPayloads: !routes.payloadTakers.isEmpty, keeping: PayloadKeeping(config.console.keepPayloads),
            showsPayloads: routes.includesPayloads,
            registersMessages: config.inapp.registersPayloads, mediaStatus: .skipped, actions: config.actions,
            categories: config.categories.statics, observation: resources.observation)
        intake = Intake(
            normalizer: normalizer, routes: routes, queue: resources.queue, sources: config.sources,
            counts: resources.counts, observation: resources.observation, now: now)
        let variants = EventVariants(
            tokens: resources.tokens, counts: resources.counts, observation: resources.observation)
        orders = ManualOrders(routes: routes, variants: variants)
        interactions = InteractionIntake(
            gateway: config.gateway.name, routes: routes,
            decider: Self.decider(types: config.actions, media: resources.media, links: links),
            queue: resources.queue, variants: variants, now: now)
        inApp = InAppFlow(
            resources.inApp, events: InAppEvents(gateway: config.gateway.name, routes: routes, variants: variants),
            sources: Set(config.sources.keys))
        deadLetters = DeadLetterEvents(gateway: config.gateway.name, routes: routes, variants: variants)
        let clients =
            former.flatMap { $0.config.egressAllow == config.egressAllow ? $0.clients : nil }
            ?? ClientPool(allow: config.egressAllow)
        self.clients = clients
        destinations = config.destinations.map { destination in
            let sender = Self.sender(
                for: destination, resolved.webhooks[destination.name], clients: clients, version: resources.version,
                inbox: resources.inbox, telemetry: resources.telemetry, now: now)
            return (destination, sender)
        }
        secrets = resolved.webhooks
        // Downloads have a client of their own: files are large, and any server may send them.
        let allow = config.media.allow
        let known = former.flatMap { $0.clients === clients && $0.config.media.allow == allow ? $0.mediaClient : nil }
        mediaClient = known ?? clients.separateClient(allowing: allow)
        downloads = Self.downloads(resolved, resources, links, mediaClient, variants.writer)
        // Forwarded pushes have a client of their own: senders wait for it.
        forwardClient = former.flatMap { $0.clients === clients ? $0.forwardClient : nil } ?? clients.ownClient()
        passThrough = PassThrough(
            config, tokens: resolved.forwardedTokens, http: forwardClient, routes: routes, variants: variants,
            queue: resources.queue, tokens: resources.tokens, ledger: resources.forwards, now: now)
        let name = config.gateway.name
        let same = former.flatMap { $0.clients === clients && $0.config.gateway.name == name ? $0.collector : nil }
        collector = resolved.telemetry.map { settings in
            if let same, same.settings == settings { return same }
            // A client of its own, which the exporter stops after the others.
            return OTLPCollector(settings, http: clients.ownClient(), gateway: name, version: resources.version)
        }
    }

    /// The sender of each destination of the config. For test events; the dispatcher has its own list.
    package var senders: [DestinationName: any Sender] {
        Dictionary(uniqueKeysWithValues: destinations.map { ($0.destination.name, $0.sender) })
    }

    /// The files of its config, and of a newer one that was rejected.
    package var newestOrigin: GatewayConfig.Origin {
        var origin = config.origin
        for name in status.rejection?.namedFiles ?? [] where !origin.files.contains(name) { origin.files.append(name) }
        return origin
    }

    /// True if a destination that both plans have is reached with the same connections and secrets. If its options are
    /// equal too, its lane continues during a reload.
    func reaches(_ name: DestinationName, as other: GatewayPlan) -> Bool {
        clients === other.clients && secrets[name] == other.secrets[name]
    }

    /// Settings of the config as the fetcher and the service need them.
    private static func downloads(
        _ resolved: ResolvedConfig, _ resources: Resources, _ links: MediaLinks, _ client: OutboundHTTP,
        _ variantWriter: EventVariantWriter
    ) -> MediaService.Setup {
        let config = resolved.config
        var settings = MediaFetcher.Settings(userAgent: "signalbox/" + resources.version)
        settings.rules.allowsHTTP = config.media.allowHttp
        settings.rules.kinds = Set(MediaKind.allCases.filter { config.media.types.contains($0.contentType) })
        settings.rules.limits = config.media.maxBytes
        settings.timeout = config.media.timeout
        settings.transport = config.media.transport
        let fetcher = MediaFetcher(settings, http: client, store: resources.media)
        let (routes, store) = (resolved.routes, resources.media)
        let wait = routes.shortestMediaWait
        return MediaService.Setup(settings: config.media, directory: store.directory, shortestWait: wait) { file in
            links.href(file.sha256, now: Date())
        } exists: { file in
            store.find(file.sha256)?.bytes == file.bytes
        } transform: { event, route in
            ParserPool.events.withParser { variantWriter.transformed(event, by: route, of: routes, with: $0) }
        } download: { job in
            // A server would confirm a file that the disk has lost, again and again.
            let isStored = await MediaStore.onDisk { job.stored.map { store.find($0) != nil } ?? false }
            return await fetcher.fetch(job.url, validators: isStored ? job.validators : nil)
        }
    }

    /// The sender of one destination. `secrets`: required for a webhook. Stops the process if a webhook has no
    /// secrets. Inboxes share one sender. `telemetry`: records the spans of attempts; nil for none. `now`: for
    /// signatures.
    package static func sender(
        for destination: Destination, _ secrets: ResolvedConfig.WebhookSecrets?, clients: ClientPool, version: String,
        inbox: InboxSender, telemetry: Telemetry? = nil, now: @escaping @Sendable () -> Date = { Date() }
    ) -> any Sender {
        guard case .webhook(var webhook) = destination.endpoint else { return inbox }
        guard let secrets else { preconditionFailure("A webhook of a resolved config has its secrets.") }
        webhook.url = secrets.url
        return WebhookSender(
            webhook, keys: secrets.keys, headers: secrets.headers, clientSecret: secrets.clientSecret,
            http: clients.client(allowing: destination.allow), version: version, telemetry: telemetry, now: now)
    }

    /// Calendar files are written on a queue of their own, because a write blocks until it is on disk. A link is made
    /// after its file is stored, so its lifetime begins then.
    private static func decider(types: ActionTypes, media: MediaStore, links: MediaLinks) -> TapDecider {
        let files = DispatchQueue(label: "signalbox.media")
        return TapDecider(types: types) { bytes in
            try await files.run { () throws(MediaError) -> TapOutcome.CalendarMedia in
                let file = try media.keep(bytes)
                return TapOutcome.CalendarMedia(
                    sha256: file.sha256, bytes: file.bytes, href: links.href(file.sha256, now: Date()))
            }
        }
    }
}

extension PayloadKeeping {
    /// Nil if the config keeps no payload for operators.
    init?(_ kept: GatewayConfig.Console.KeptPayloads) {
        switch kept {
        case .none: return nil
        case .dead: self = .untilDelivered
        case .all: self = .withEvent
        }
    }
}
