import Foundation
package import Logging
package import SignalboxConfig
import SignalboxStore

/// Replaces the active config while the gateway runs, as a whole or not at all.
///
/// The flow: ``ConfigWatch`` notices changed files or SIGHUP and calls ``run()``. `prepare` reads the config and
/// makes a ``GatewayPlan`` and the HTTP surface from it, without side effects. If both succeed,
/// ``Gateway/replace(by:)`` hands the plan to the dispatcher and the downloads, and `serve` swaps the HTTP surface.
/// Otherwise the active config stays, and its ``ActiveConfigStatus`` records the problems. The watch calls ``run()``
/// on one task, so two reloads never overlap.
package struct ConfigReload: Sendable {
    /// A config that was read, or the reasons why it cannot be used. The active config is still in effect when it is
    /// returned.
    package enum Preparation: Sendable {
        /// `serve` makes the HTTP server use the new config.
        case ready(GatewayPlan, serve: @Sendable () -> Void)
        /// One line for each problem, without secrets and without text of the config. `namedFiles`: those that the
        /// config names, as far as they are known. `files`: its own files, for the history.
        case rejected(problems: [String], namedFiles: [String], files: [ConfigText])
    }

    private let gateway: Gateway
    /// The config whose addresses and directories are in use until a restart.
    private let started: GatewayConfig
    private let prepare: @Sendable () -> Preparation
    private let logger: Logger

    /// `prepare`: reads the config and makes a plan of it; may block while it reads files, and must not have side
    /// effects. Make this value before the first reload: the plan of `gateway` must be that of the start.
    package init(_ gateway: Gateway, logger: Logger, prepare: @escaping @Sendable () -> Preparation) {
        (self.gateway, self.prepare, self.logger) = (gateway, prepare, logger)
        started = gateway.plan.config
    }

    /// Reads the config once and applies it, or keeps the active one. Never throws. Returns when the new config is in
    /// effect or the rejection is recorded and logged.
    package func run() async {
        switch prepare() {
        case .ready(let plan, let serve):
            let former = gateway.plan.config
            // Deliveries first: a destination exists before the server accepts events for it.
            gateway.replace(by: plan)
            serve()
            gateway.resources.history.activate(plan.config.origin.digest, plan.files, at: plan.status.since)
            gateway.queue.announce(config: plan.config.origin.digest, version: gateway.resources.version)
            // A change that is undone needs no restart.
            if plan.config.needsRestart(after: former), plan.config.needsRestart(after: started) {
                logger.warning(
                    "Listen address, data directory, store or media directory changed; restart the gateway to apply it."
                )
            }
            logger.notice("Config reloaded.", metadata: ["digest": "\(plan.config.origin.digest)"])
            // A reference can lead to another URL, although the files are the same.
            if plan.config.origin.digest != former.origin.digest || plan.config.warnings != former.warnings {
                plan.config.reportWarnings(to: logger)
            }
            await gateway.reportStranded()
        case .rejected(let problems, let namedFiles, let files):
            gateway.resources.history.refuse(files, problems: problems, at: Date())
            gateway.plan.status.reject(.init(at: Date(), problems: problems, namedFiles: namedFiles))
            logger.error("Config rejected; the previous one stays active.", metadata: ["problems": "\(problems.count)"])
        }
    }
}
