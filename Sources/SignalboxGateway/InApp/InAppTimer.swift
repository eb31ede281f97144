package import Logging
import ServiceLifecycle
import SignalboxInApp
import SignalboxNotification
import SignalboxStore

/// Ends leases, delays, waits and silent displays whose time is over, on devices that make no request. Sleeps until the
/// next of these times, and wakes when a decision brings it forward. A late pass is harmless, because a request of the
/// device does the same work.
/// A decision that is made here changes rows and writes events like any other, and is durable.
package struct InAppTimer: NamedService {
    /// The flow of the config that is active during a pass.
    private let flow: @Sendable () -> InAppFlow
    private let logger: Logger
    private let clock: any Clock<Duration>
    /// Logs the first failure and the recovery.
    private let outage = Outage()

    /// The most devices of one pass. Their decisions share commits.
    private static let batch = 256
    /// Time between two passes at least, so that many due times cost few reads.
    private static let rest: Duration = .milliseconds(100)
    /// The longest sleep: the store's clock and the sleep's may drift apart.
    private static let longest: Duration = .seconds(30)
    /// Pause after a failure of the store.
    private static let pause: Duration = .seconds(1)

    /// `flow`: returns the flow of the active config; called in every pass. `clock` runs as fast as the store's.
    package init(
        logger: Logger, clock: any Clock<Duration> = ContinuousClock(), flow: @escaping @Sendable () -> InAppFlow
    ) { (self.flow, self.logger, self.clock) = (flow, logger, clock) }

    /// Runs until a graceful shutdown; never throws. Begins with a pass at once.
    package func run() async throws {
        // The work does not throw, so that a shutdown is a normal return.
        await cancelWhenGracefulShutdown { await runUntilCancelled() }
    }

    /// Runs until its task is cancelled.
    /// Returns after the pass in progress.
    func runUntilCancelled() async {
        let wakeUp = flow().shared.alarm.wakeUp
        var time = Duration.zero
        while await wakeUp.wait(atMost: time, by: clock), !Task.isCancelled {
            time = await pass()
            do { try await clock.sleep(for: Self.rest) } catch { return }
        }
    }

    /// Advances due devices. Returns the time to the next pass.
    /// Never throws: a failure of the store is logged once, and the next pass tries again.
    private func pass() async -> Duration {
        let flow = flow()
        let (store, alarm) = (flow.store, flow.shared.alarm)
        do throws(StoreError) {
            alarm.reset()
            let now = store.now.instant
            flow.shared.messages.removeEnded(at: now)
            let devices = try await store.dueDevices(at: now, upTo: Self.batch)
            try await advance(devices, by: flow)
            let due = alarm.sleeps(until: try await store.nextInAppDue())
            if outage.ends() { logger.notice("In-app rows readable again.") }
            let wait = due.subtractingReportingOverflow(store.now.instant)
            return wait.overflow ? Self.longest : min(max(.milliseconds(wait.partialValue), .zero), Self.longest)
        } catch {
            // The service's own stop cancelled the pass.
            if !Task.isCancelled, outage.begins(by: error) {
                logger.error("Cannot end overdue in-app offers.", metadata: ["error": "\(error)"])
            }
            return Self.pause
        }
    }

    /// Throws the first error of the store after trying all devices. A device without a request has no other failures;
    /// they would be ignored.
    private func advance(_ devices: [DeviceID], by flow: InAppFlow) async throws(StoreError) {
        let failure = await withTaskGroup(of: StoreError?.self) { group in
            for device in devices {
                group.addTask {
                    do throws(InAppFailure) {
                        try await flow.advance(device)
                        return nil
                    } catch {
                        if case .store(let reason) = error { return reason }
                        return nil
                    }
                }
            }
            return await group.reduce(nil) { $0 ?? $1 }
        }
        if let failure { throw failure }
    }
}
