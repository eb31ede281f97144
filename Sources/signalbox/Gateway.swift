import ArgumentParser
import Foundation
import Logging
import SignalboxConfig
import SignalboxEgress
import SignalboxGateway
import SignalboxNotification
import SignalboxRouting
import SignalboxStore

/// The composition root of everything that works on a data directory: queue, pipeline and delivery put together, by a
/// plan that can be replaced while it runs.
struct Gateway: Sendable {
    let directory: DataDirectory
    let foundations: GatewayPlan.Foundations
    let dispatcher: Dispatcher
    let downloads: MediaService
    let fileJanitor: MediaJanitor
    private let current: Replaceable<GatewayPlan>
    /// Of earlier plans: what was begun by them may still be under way. As many as are in use, and the last one.
    private let formerClients: Replaceable<[ClientPool]>
    private let path: String

    /// Puts a gateway together, or says on standard error why it cannot. `show` gets what built-in inboxes show.
    init(
        _ options: GatewayOptions, acceptsQueueLoss: Bool = false, config: RoutedConfig, logger: Logger,
        show: @escaping @Sendable (String) -> Void
    ) throws(ExitCode) {
        // What is in the queue is nobody else's business on this machine.
        umask(0o077)
        path = options.configPath
        do throws(StoreError) {
            directory = try DataDirectory(path: options.dataDirectory(file: config.config.gateway.dataDirectory))
            // Before the key, because a key implies that there was a queue.
            let queue = try SQLiteQueue(of: directory, acceptsLoss: acceptsQueueLoss)
            let key = try directory.key("token.key") { randomBytes(32) }
            foundations = GatewayPlan.Foundations(
                queue: queue, media: MediaStore(directory: directory.path + "/media"),
                tokens: TokenHash(key: key), counts: RouteCounts(), show: show)
        } catch {
            throw refuse("\(error)")
        }
        let (path, foundations) = (path, foundations)
        let plan = try orRefuse { () throws(ConfigRefusal) in
            try GatewayPlan(config, path: path, on: foundations)
        }
        dispatcher = Dispatcher(
            plan.destinations, queue: foundations.queue, deadLetters: plan.deadLetters, logger: logger)
        let (current, formerClients) = (Replaceable(plan), Replaceable<[ClientPool]>([]))
        let room = MediaRoom { current.value.config.media.retention.bytes }
        downloads = MediaService(
            foundations.queue, plan.downloads, room: room,
            cancel: { for clients in formerClients.value + [current.value.clients] { clients.stopSeparate() } },
            logger: logger)
        fileJanitor = MediaJanitor(
            room, health: foundations.queue.fileHealth,
            work: .init(foundations.queue, foundations.media) { current.value.config.media.retention }, logger: logger)
        self.current = current
        self.formerClients = formerClients
    }

    var plan: GatewayPlan { current.value }
    var queue: SQLiteQueue { foundations.queue }
    var media: MediaStore { foundations.media }

    /// The plan of another config, or why there is none; nothing has changed yet.
    func plan(for config: RoutedConfig) throws(ConfigRefusal) -> GatewayPlan {
        try GatewayPlan(config, path: path, on: foundations, following: plan)
    }

    /// Goes by another plan from now on. What is under way ends as it began.
    func replace(by next: GatewayPlan) {
        let former = plan
        if former.clients !== next.clients {
            formerClients.replace(by: formerClients.value.filter(\.isInUse) + [former.clients])
        }
        current.replace(by: next)
        downloads.replace(by: next.downloads)
        dispatcher.replace(next.destinations, deadLetters: next.deadLetters) { next.reaches($0, as: former) }
    }

    /// Ends all that is under way to others; nothing is sent any more.
    func stopSending() {
        for clients in formerClients.value + [plan.clients] { clients.stop() }
    }

    /// Checkpoints all commits into the queue's file. Call it when no writer is left. After a failure the commits stay
    /// in the write-ahead log.
    func carryOver(logger: Logger) async {
        do throws(StoreError) {
            try await queue.carryOver()
        } catch {
            logger.notice("Checkpoint failed; commits stay in queue.db-wal.", metadata: ["error": "\(error)"])
        }
    }

    /// To be called before anything is delivered.
    func openDownloads() async throws(ExitCode) {
        do throws(StoreError) { try await downloads.open() } catch { throw refuse("\(error)") }
    }

    /// Says which deliveries wait for a destination that the config no longer has.
    func reportStranded(to logger: Logger) async {
        let known = Set(plan.config.destinations.map(\.name))
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
