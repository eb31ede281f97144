import SignalboxNotification
import SignalboxStore

/// What became of deliveries between two looks at the queue.
struct DeliveryOutcomes {
    let delivered: Int
    let dead: Int
    let expired: Int
    /// To be tried again later.
    let waiting: Int
    /// Of those, the ones whose time has not come.
    let scheduled: Int

    /// `scheduled`: deliveries that wait for their time, before and after.
    init(
        before: [DestinationName: [DeliveryRecord.State: Int]], after: [DestinationName: [DeliveryRecord.State: Int]],
        scheduled: (before: Int, after: Int)
    ) {
        func total(_ counts: [DestinationName: [DeliveryRecord.State: Int]], _ state: DeliveryRecord.State) -> Int {
            counts.values.reduce(0) { $0 + ($1[state] ?? 0) }
        }
        delivered = total(after, .delivered) - total(before, .delivered)
        dead = total(after, .dead) - total(before, .dead)
        expired = total(after, .expired) - total(before, .expired)
        waiting = max(0, total(after, .waiting) - total(before, .waiting))
        self.scheduled = min(waiting, max(0, scheduled.after - scheduled.before))
    }

    /// What waits for its time is as it should be.
    var failed: Int { dead + waiting - scheduled }

    func text(json: Bool) -> String {
        guard !json else {
            return #"{"delivered":\#(delivered),"dead":\#(dead),"expired":\#(expired),"waiting":\#(waiting),"#
                + #""scheduled":\#(scheduled)}"# + "\n"
        }
        var text = "\(delivered) delivered, \(dead) dead, \(waiting) waiting for their next attempt"
        if scheduled > 0 { text += " (\(scheduled) of them for their time)" }
        if expired > 0 { text += ", \(expired) expired" }
        return text + "\n"
    }
}
