package import Logging
import SignalboxConfig
import SignalboxEgress
import SignalboxNotification
import SignalboxRouting
package import SignalboxStore

/// Everything that works on one data directory: queue, pipeline, delivery and downloads, under a plan that a reload
/// replaces. A value whose copies share the plan and the services. The composition root makes one for each data
/// directory.
package struct Gateway: Sendable {
    /// The resources that stay the same for the life of the process.
    package let resources: GatewayPlan.Resources
    /// The service that delivers.
    package let dispatcher: Dispatcher
    /// The service that downloads files.
    package let downloads: MediaService
    /// The service that removes files.
    package let fileJanitor: MediaJanitor
    /// The service that ends in-app offers whose time is over.
    package let inAppTimer: InAppTimer
    private let current: Replaceable<GatewayPlan>
    /// Client pools of earlier plans that may still have requests in flight.
    private let formerClients: Replaceable<[ClientPool]>
    private let logger: Logger

    /// `tokenKey`: 32 random bytes that outlive the process, so that a device token keeps its hash. `version`: for
    /// `user-agent` headers. `inbox`: the sender of built-in inboxes. Opens no connection and starts no task: the
    /// caller runs the services. `media`: the store of the same data directory.
    package init(
        _ queue: any Store, media: MediaStore, tokenKey: [UInt8], _ resolved: ResolvedConfig, version: String,
        inbox: InboxSender, logger: Logger
    ) {
        self.logger = logger
        let observation = Observation(recent: resolved.config.console.recent)
        resources = GatewayPlan.Resources(
            queue: queue, media: media, tokens: TokenHash(key: tokenKey), keys: DerivedKeys(tokenKey),
            counts: RouteCounts(), failures: FailureRules(), inbox: inbox, version: version,
            inApp: InAppFlow.Shared(queue, policy: resolved.config.inapp), forwards: ForwardLedger(logger: logger),
            telemetry: Telemetry(counts: observation.counters.telemetry), observation: observation)
        let plan = GatewayPlan(resolved, on: resources)
        resources.history.activate(plan.config.origin.digest, plan.files, at: plan.status.since)
        queue.announce(config: plan.config.origin.digest, version: version)
        dispatcher = Dispatcher(
            plan.destinations, queue: queue, deadLetters: plan.deadLetters, observation: observation, logger: logger)
        observation.counters.expect(plan.config)
        let (current, formerClients) = (Replaceable(plan), Replaceable<[ClientPool]>([]))
        let quota = MediaQuota { current.value.config.media.retention.bytes }
        downloads = MediaService(
            queue, plan.downloads, quota: quota,
            cancel: { for clients in formerClients.value + [current.value.clients] { clients.stopSeparate() } },
            logger: logger)
        fileJanitor = MediaJanitor(
            quota, health: queue.health,
            work: .init(queue, media) { current.value.config.media.retention }, logger: logger)
        inAppTimer = InAppTimer(logger: logger) { current.value.inApp }
        (self.current, self.formerClients) = (current, formerClients)
    }

    /// The active plan. Callable from any thread. A later call may return another plan, so a caller that reads
    /// several values keeps the plan.
    package var plan: GatewayPlan { current.value }
    /// The queue of the data directory.
    package var queue: any Store { resources.queue }

    /// The plan of another config. It has no effect before ``replace(by:)``. Reads no file. Reuses connections of the
    /// active plan if the egress policy is the same.
    package func plan(for resolved: ResolvedConfig) -> GatewayPlan {
        GatewayPlan(resolved, on: resources, following: plan)
    }

    /// Applies another plan. Attempts and downloads in flight end with the settings that they began with. Requests of
    /// the former plan end with its own clients. ``stopSending()`` reaches these clients too.
    func replace(by next: GatewayPlan) {
        let former = plan
        if former.clients !== next.clients {
            formerClients.replace(by: formerClients.value.filter(\.isInUse) + [former.clients])
        }
        current.replace(by: next)
        resources.telemetry.apply(ratio: next.collector?.settings.ratio)
        resources.inApp.messages.replace(policy: next.config.inapp)
        resources.observation.recent.set(limit: next.config.console.recent)
        resources.observation.counters.expect(next.config)
        reportSkippedMessages()
        downloads.replace(by: next.downloads)
        dispatcher.replace(next.destinations, deadLetters: next.deadLetters) { next.reaches($0, as: former) }
    }

    /// Cancels all outgoing requests and permits no further ones. Requests in flight end with
    /// ``TransportError/stopped``, so that their deliveries return to the queue.
    package func stopSending() {
        for clients in formerClients.value + [plan.clients] { clients.stop() }
    }

    /// Copies all commits into the queue's main file. Call it after the last writer has ended. If it fails, the
    /// commits stay in the write-ahead log. A failure is logged and has no other effect: the next start reads the log
    /// of commits.
    package func checkpoint() async {
        do throws(StoreError) {
            try await queue.checkpoint()
        } catch {
            logger.notice(
                "Store did not close cleanly; unfinished work resumes at the next start or on another gateway.",
                metadata: ["error": "\(error)"])
        }
    }

    /// Prepares downloads. Call it before the first delivery. Throws errors of the queue.
    package func openDownloads() async throws(StoreError) { try await downloads.open() }

    /// Reads the in-app messages. Call it before the first request. Throws errors of the queue.
    package func openInApp() async throws(StoreError) {
        try await resources.inApp.messages.follow(queue)
        reportSkippedMessages()
    }

    /// Logs stored in-app messages that the active config does not permit, or that exceed a bound.
    private func reportSkippedMessages() {
        guard let skipped = resources.inApp.messages.skipped else { return }
        logger.warning(
            "In-app messages skipped.",
            metadata: [
                "messages": "\(skipped.count)", "first": "\(skipped.first)", "pointer": "\(skipped.fault.pointer)",
                "reason": "\(skipped.fault.detail)",
            ])
    }

    /// Why the queue cannot accept events; nil if it can. The health endpoint calls it. Writes to the queue to find
    /// out.
    package func fault() async -> StoreError? {
        do throws(StoreError) {
            try await queue.probe()
            return nil
        } catch { return error }
    }

    /// Logs destinations that have waiting deliveries and are no longer in the config. One warning for each
    /// destination, or one if the queue cannot be read.
    package func reportStranded() async {
        let known = Set(plan.config.destinations.map(\.name))
        // Gauges come from indexes; counting every delivery would delay a start with a backlog.
        let gauges: [DestinationName: DestinationGauges]
        do {
            gauges = try await queue.gauges()
        } catch {
            // The gateway's own stop cancelled the search.
            if Task.isCancelled { return }
            logger.warning("Cannot search for stranded deliveries.", metadata: ["error": "\(error)"])
            return
        }
        for (name, gauge) in gauges where !known.contains(name) && gauge.waiting > 0 {
            let waiting = gauge.waiting
            logger.warning(
                "Deliveries wait for a destination that is not in the config.",
                metadata: ["destination": "\(name)", "waiting": "\(waiting)"])
        }
    }
}
