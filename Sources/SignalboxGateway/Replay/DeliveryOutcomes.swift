package import SignalboxNotification
package import SignalboxStore

/// The deliveries that ended during a replay, and those that it leaves.
package struct DeliveryOutcomes: Sendable {
    /// The deliveries of a queue at one time.
    package struct Counts: Sendable {
        /// By destination and state.
        let states: [DestinationName: [DeliveryRecord.State: Int]]
        /// Deliveries that wait for their scheduled time.
        let scheduled: Int

        /// Take both counts from the same queue.
        package init(states: [DestinationName: [DeliveryRecord.State: Int]], scheduled: Int) {
            (self.states, self.scheduled) = (states, scheduled)
        }

        fileprivate func total(_ state: DeliveryRecord.State) -> Int {
            states.values.reduce(0) { $0 + ($1[state] ?? 0) }
        }
    }

    let delivered: Int
    let dead: Int
    let expired: Int
    /// All waiting deliveries, including those of earlier runs. Next to other gateways: those of this run only, unless
    /// it continues an earlier one.
    let waiting: Int
    /// Waiting deliveries whose scheduled time has not come.
    let scheduled: Int
    /// Deliveries of the run that other gateways ended; nil for a queue of one process.
    let others: Int?

    /// For a queue of one process. The ended deliveries include those of earlier runs that ended during this run.
    /// Waiting deliveries are therefore not counted as a difference: one of an earlier run that ended would hide one of
    /// this run that waits.
    package init(before: Counts, after: Counts) {
        delivered = after.total(.delivered) - before.total(.delivered)
        dead = after.total(.dead) - before.total(.dead)
        expired = after.total(.expired) - before.total(.expired)
        waiting = after.total(.waiting)
        scheduled = min(waiting, after.scheduled)
        others = nil
    }

    /// For a queue that other gateways use. `own`: the ends that this process recorded, which may include a few of
    /// other senders. `appended`: deliveries that this process added, by destination: an end at one destination must
    /// not hide a delivery that waits for another. `scheduled`: those of them with a scheduled time. `continues`:
    /// whether an earlier process added some of the run, any number of which may wait. `after`: of the whole queue, at
    /// the end.
    package init(
        own: [DestinationName: [DeliveryRecord.State: Int]], appended: [DestinationName: Int], scheduled most: Int,
        continues: Bool, after: Counts
    ) {
        let ends = Counts(states: own, scheduled: 0)
        (delivered, dead, expired) = (ends.total(.delivered), ends.total(.dead), ends.total(.expired))
        var (left, waitingOfRun) = (0, 0)
        for (destination, count) in appended {
            let ended = own[destination, default: [:]]
            let rest = max(
                0, count - ended[.delivered, default: 0] - ended[.dead, default: 0] - ended[.expired, default: 0])
            left += rest
            waitingOfRun += min(rest, after.states[destination]?[.waiting] ?? 0)
        }
        waiting = continues ? after.total(.waiting) : waitingOfRun
        // Scheduled deliveries of other senders are in the count of the queue too.
        scheduled = continues ? min(waiting, after.scheduled) : min(waiting, after.scheduled, most)
        others = left - waitingOfRun
    }

    /// Deliveries that were not made. Scheduled and expired ones are not failures, and neither are those of other
    /// gateways. ``QueueReplay/run()`` returns true if it is not zero.
    package var failed: Int { dead + waiting - scheduled }

    /// One line, with its line end: for people, or a JSON object. `json`: the members are those of this value; one
    /// that is nil is left out.
    package func text(json: Bool) -> String {
        guard !json else {
            return #"{"delivered":\#(delivered),"dead":\#(dead),"expired":\#(expired),"waiting":\#(waiting),"#
                + #""scheduled":\#(scheduled)\#(others.map { #","others":\#($0)"# } ?? "")}"# + "\n"
        }
        let bound = others == nil || waiting == 0 ? "" : "at most "
        var text = "\(delivered) delivered, \(dead) dead, \(bound)\(waiting) waiting for their next attempt"
        if scheduled > 0 { text += " (\(scheduled) of them scheduled)" }
        if expired > 0 { text += ", \(expired) expired" }
        if let others, others > 0 { text += ", \(others) ended by other gateways" }
        return text + "\n"
    }
}
