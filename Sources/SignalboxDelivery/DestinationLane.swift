import Foundation
import Logging
import SignalboxModel
import SignalboxRouting
import SignalboxStore

/// Brings the deliveries of one destination from the queue to their outcome. Lanes share nothing but the queue and the
/// HTTP client, so one that hangs holds up no other.
struct DestinationLane: Sendable {
    private let destination: Destination
    private let sender: any Sender
    private let queue: SQLiteQueue
    private let logger: Logger
    private let clock: any Clock<Duration>
    private let gate: LaneGate
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    init(
        _ destination: Destination, sender: any Sender, queue: SQLiteQueue, logger: Logger, clock: any Clock<Duration>
    ) {
        self.destination = destination
        self.sender = sender
        self.queue = queue
        self.logger = logger
        self.clock = clock
        gate = LaneGate(limit: destination.concurrency)
        (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Runs until the lane is drained or closed and all that was begun has ended.
    func run() async {
        queue.openLane(destination.name) { [signal] in signal.yield() }
        await withDiscardingTaskGroup { group in
            for await _ in signals {
                // Asked first: what was appended while the queue was being read is for another turn.
                let isDraining = gate.isDraining
                let foundAll = await begin { lease in group.addTask { await attempt(lease) } }
                if gate.isClosed || (isDraining && foundAll) { break }
            }
        }
    }

    /// Ends the lane once nothing is due.
    func drain() {
        gate.drain()
        signal.yield()
    }

    /// Ends the lane now, but for what is under way.
    func close() {
        gate.close()
        signal.yield()
    }

    /// Begins attempts as long as there are places and deliveries. True when there were more places than deliveries.
    private func begin(_ start: (Lease) -> Void) async -> Bool {
        while true {
            let free = gate.takeFree()
            guard free > 0 else { return false }
            let leases = await claim(upTo: free)
            gate.giveBack(free - leases.count)
            for lease in leases { start(lease) }
            if leases.isEmpty { return true }
        }
    }

    private func claim(upTo limit: Int) async -> [Lease] {
        do throws(StoreError) {
            return try await queue.claim(from: destination.name, upTo: limit)
        } catch {
            // The next tick looks again.
            logger.error(
                "The queue cannot be read.", metadata: ["destination": "\(destination.name)", "error": "\(error)"])
            return []
        }
    }

    // MARK: One attempt

    private func attempt(_ lease: Lease) async {
        let attempt = await sender.send(lease)
        gate.sent()
        signal.yield()
        let outcome = RetryPolicy(destination.retry).outcome(
            of: attempt, number: lease.attempts + 1, now: Date(), random: Double.random(in: 0..<1))
        report(outcome, of: lease)
        await settle(lease, outcome)
        gate.settled()
        signal.yield()
    }

    private func settle(_ lease: Lease, _ outcome: Outcome) async {
        while true {
            do throws(StoreError) {
                try await queue.settle(lease, outcome)
                return gate.noteRecorded()
            } catch {
                // Many outcomes wait at such a time: it is said once.
                if gate.noteUnrecorded() {
                    logger.error(
                        "Outcomes cannot be recorded; trying again.",
                        metadata: ["destination": "\(lease.destination)", "error": "\(error)"])
                }
            }
            // Given up only when the gateway stops: the delivery is then repeated after the next start.
            if gate.isClosed { return }
            do { try await clock.sleep(for: .seconds(1)) } catch { return }
        }
    }

    /// Says once when a destination begins to fail and once when it takes events again; each attempt only in detail.
    private func report(_ outcome: Outcome, of lease: Lease) {
        var metadata: Logger.Metadata = [
            "event": "\(lease.event)", "destination": "\(lease.destination)", "attempt": "\(lease.attempts + 1)",
        ]
        switch outcome {
        case .delivered:
            logger.debug("Delivered.", metadata: metadata)
            if gate.noteSuccess() { logger.notice("The destination takes events again.", metadata: metadata) }
        case .retry(let at, _, let reason):
            metadata["reason"] = "\(reason)"
            metadata["next"] = "\(Timestamp(at).text)"
            logger.info("Delivery failed; it will be tried again.", metadata: metadata)
            if gate.noteFailure() { logger.warning("The destination fails; deliveries wait.", metadata: metadata) }
        case .postponed(_, let reason):
            metadata["reason"] = "\(reason)"
            logger.error("An attempt could not be made.", metadata: metadata)
        case .dead(_, let reason):
            metadata["reason"] = "\(reason)"
            logger.warning("Delivery is dead.", metadata: metadata)
        case .returned: logger.debug("Delivery was cut short by our own stop.", metadata: metadata)
        }
    }
}
