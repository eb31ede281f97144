import SignalboxNotification

/// Decides whether a lane has stopped: it is free to begin, begins nothing, and something has been due for long, twice in
/// a row. Pure: what is seen comes in.
struct Watchdog: Sendable {
    /// Between two looks, in ticks of the dispatcher.
    static let ticks = 150
    /// Seconds.
    private static let patience = 60.0

    /// The queue read that each lane had in progress at the last check.
    private var readings: [DestinationName: Int] = [:]
    private var suspects: Set<DestinationName> = []
    private var reported: Set<DestinationName> = []

    /// Returns a lane's read, once, if it was already in progress at the last check. `reading`: nil for none.
    mutating func stuckReading(_ lane: DestinationName, _ reading: Int?) -> Int? {
        let former = readings[lane]
        // Negative once reported.
        readings[lane] = reading.map { former == $0 || former == -$0 ? -$0 : $0 }
        return former == reading ? reading : nil
    }

    /// True once for each time that a lane stops. `overdue`: for how many seconds something has been due; nil for nothing.
    mutating func isStalled(_ lane: DestinationName, overdue: Double?, isIdle: Bool) -> Bool {
        guard isIdle, let overdue, overdue > Self.patience else {
            suspects.remove(lane)
            reported.remove(lane)
            return false
        }
        guard suspects.contains(lane) else {
            suspects.insert(lane)
            return false
        }
        return reported.insert(lane).inserted
    }
}
