import ArgumentParser
import Dispatch
import Foundation
import Logging
import SignalboxActions
import SignalboxDelivery
import SignalboxEgress
import SignalboxMedia
import SignalboxModel
import SignalboxPipeline
import SignalboxRouting
import SignalboxStore
import SignalboxVendors

/// The composition root of everything that works on a data directory: config, queue, pipeline and delivery put together.
struct Gateway {
    let config: GatewayConfig
    let queue: SQLiteQueue
    let normalizer: Normalizer
    let intake: Intake
    let interactions: InteractionIntake
    let counts = RouteCounts()
    let media: MediaStore
    let links: MediaLinks
    let ways: WaysOut
    let dispatcher: Dispatcher
    let downloads: MediaService
    let senders: [DestinationName: any Sender]
    let directory: DataDirectory

    /// Puts a gateway together, or says on standard error why it cannot. `show` gets what built-in inboxes show.
    init(
        _ options: GatewayOptions, config: GatewayConfig, logger: Logger, show: @escaping @Sendable (String) -> Void
    ) throws(ExitCode) {
        self.config = config
        // What is in the queue is nobody else's business on this machine.
        umask(0o077)
        let chain = try ConfigFile.chain(config)
        do throws(StoreError) {
            directory = try DataDirectory(path: options.dataDirectory(file: config.gateway.dataDirectory))
            queue = try SQLiteQueue(in: directory.path)
            media = MediaStore(directory: directory.path + "/media")
            let key = try directory.key("token.key") { randomBytes(32) }
            normalizer = Normalizer(
                chain: chain, gateway: config.gateway.name, tokens: TokenHash(key: key),
                keepsPayloads: !config.routes.payloadTakers.isEmpty,
                showsPayloads: config.routes.includesPayloads, mediaStatus: .skipped, actions: config.actions,
                categories: config.categories.statics)
        } catch {
            throw refuse("\(error)")
        }
        links = try ConfigFile.mediaLinks(config, path: options.configPath)
        intake = Intake(
            normalizer: normalizer, routes: config.routes, queue: queue, sources: config.sources, counts: counts)
        let shaping = EventShaping(tokens: normalizer.tokens, counts: counts)
        interactions = InteractionIntake(
            gateway: config.gateway.name, routes: config.routes,
            decider: Self.decider(types: config.actions, media: media, links: links), queue: queue, shaping: shaping)
        ways = WaysOut(allow: config.egressAllow)
        var senders: [(Destination, any Sender)] = []
        for destination in config.destinations {
            senders.append(
                (destination, try Self.sender(for: destination, path: options.configPath, ways: ways, show: show)))
        }
        self.senders = Dictionary(uniqueKeysWithValues: senders.map { ($0.0.name, $0.1) })
        dispatcher = Dispatcher(
            senders, queue: queue,
            deadLetters: DeadLetterEvents(
                gateway: config.gateway.name, routes: config.routes, shaper: shaping.shaper), logger: logger)
        downloads = MediaService(
            queue, try Self.downloads(config, options.configPath, media, links, ways, shaping.shaper), logger: logger)
    }

    /// Downloads files, by a client of their own: they are large, and their servers are anybody's.
    private static func downloads(
        _ config: GatewayConfig, _ path: String, _ store: MediaStore, _ links: MediaLinks, _ ways: WaysOut,
        _ shaper: EventShaper
    ) throws(ExitCode) -> MediaService.Setup {
        try ConfigFile.checkFiles(of: config.media.way.tls, at: "/media/tls", path: path)
        let client = ways.separateClient(allowing: config.media.allow)
        let fetcher = MediaFetcher(MediaFetcher.Settings(config.media), http: client, store: store)
        let routes = config.routes
        return MediaService.Setup(settings: config.media) { file in
            links.href(file.sha256, now: Date())
        } shape: { event, route, parser in
            shaper.transformed(event, by: route, of: routes, with: parser)
        } cancel: {
            client.stop()
        } download: { job in
            await fetcher.fetch(job.url, validators: job.validators)
        }
    }

    static func sender(
        for destination: Destination, path: String, ways: WaysOut, show: @escaping @Sendable (String) -> Void
    ) throws(ExitCode) -> any Sender {
        switch destination.endpoint {
        case .inbox: return InboxSender(color: StandardOutput.hasColor, show: show)
        case .webhook(let webhook):
            try ConfigFile.checkFiles(
                of: webhook.way.tls, at: "/destinations/\(destination.name)/tls", path: path)
            let keys = try ConfigFile.keys(of: webhook, named: destination.name, path: path)
            return WebhookSender(
                webhook, keys: keys,
                headers: try ConfigFile.headers(of: webhook, named: destination.name, path: path),
                clientSecret: try ConfigFile.clientSecret(of: webhook, named: destination.name, path: path),
                http: ways.client(allowing: destination.allow), version: Version.current)
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

    /// To be called before anything is delivered.
    func openDownloads() async throws(ExitCode) {
        do throws(StoreError) { try await downloads.open() } catch { throw refuse("\(error)") }
    }

    /// Says which deliveries wait for a destination that the config no longer has.
    func reportStranded(to logger: Logger) async {
        let known = Set(config.destinations.map(\.name))
        // From indexes: at the start of a gateway with a backlog, counting all there is would take its time.
        guard let gauges = try? await queue.gauges() else { return }
        for (name, gauge) in gauges where !known.contains(name) && gauge.waiting > 0 {
            let waiting = gauge.waiting
            logger.warning(
                "Deliveries wait for a destination that the config does not have.",
                metadata: ["destination": "\(name)", "waiting": "\(waiting)"])
        }
    }
}

extension MediaFetcher.Settings {
    fileprivate init(_ media: GatewayConfig.Media) {
        self.init(userAgent: "signalbox/" + Version.current)
        rules.allowsHTTP = media.allowHttp
        rules.kinds = Set(MediaKind.allCases.filter { media.types.contains($0.contentType) })
        rules.maxImageBytes = media.maxBytes.image
        rules.maxAudioBytes = media.maxBytes.audio
        rules.maxVideoBytes = media.maxBytes.video
        timeout = media.timeout
        way = media.way
    }
}
