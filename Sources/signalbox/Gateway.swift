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
    let ways: WaysOut
    let dispatcher: Dispatcher
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
        intake = Intake(
            normalizer: normalizer, routes: config.routes, queue: queue, sources: config.sources, counts: counts)
        let shaping = EventShaping(tokens: normalizer.tokens, counts: counts)
        interactions = InteractionIntake(
            gateway: config.gateway.name, routes: config.routes,
            decider: Self.decider(types: config.actions, media: media, publicUrl: config.gateway.publicUrl),
            queue: queue, shaping: shaping)
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
    }

    static func sender(
        for destination: Destination, path: String, ways: WaysOut, show: @escaping @Sendable (String) -> Void
    ) throws(ExitCode) -> any Sender {
        switch destination.endpoint {
        case .inbox: return InboxSender(color: StandardOutput.hasColor, show: show)
        case .webhook(let webhook):
            try ConfigFile.checkFiles(of: webhook, named: destination.name, path: path)
            let keys = try ConfigFile.keys(of: webhook, named: destination.name, path: path)
            return WebhookSender(
                webhook, keys: keys,
                headers: try ConfigFile.headers(of: webhook, named: destination.name, path: path),
                clientSecret: try ConfigFile.clientSecret(of: webhook, named: destination.name, path: path),
                http: ways.client(allowing: destination.allow), version: Version.current)
        }
    }

    /// Decides about taps. Files are kept on a queue of their own: that blocks until they are on disk.
    private static func decider(types: ActionTypes, media: MediaStore, publicUrl: String?) -> TapDecider {
        let files = DispatchQueue(label: "signalbox.media")
        let root = publicUrl.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 } ?? ""
        return TapDecider(types: types) { bytes in
            try await withCheckedThrowingContinuation { done in
                files.async {
                    done.resume(
                        with: Result {
                            let file = try media.keep(bytes)
                            return TapOutcome.CalendarMedia(
                                sha256: file.sha256, bytes: file.bytes, href: root + "/media/" + file.sha256)
                        })
                }
            }
        }
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
