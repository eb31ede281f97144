import SignalboxNotification

/// Detects lanes that have stopped: twice in a row, attempts may start, none is in flight, and a delivery is long
/// overdue. Pure: the caller passes the observations. The dispatcher reports what it finds as a defect of the
/// gateway. Ordered lanes are not checked for stalls.
struct Watchdog: Sendable {
    /// Time between two checks, in ticks of the dispatcher.
    static let ticks = 150
    /// Seconds.
    private static let patience = 60.0

    /// The queue read that each lane had in progress at the last check.
    private var readings: [DestinationName: Int] = [:]
    private var suspects: Set<DestinationName> = []
    private var reported: Set<DestinationName> = []

    /// Returns a lane's read, once, if it was already in progress at the last check. `reading`: nil for none. Call it
    /// once for each lane and check. A read that continues is returned once, not at every check.
    mutating func stuckReading(_ lane: DestinationName, _ reading: Int?) -> Int? {
        let former = readings[lane]
        // Negative once reported.
        readings[lane] = reading.map { former == $0 || former == -$0 ? -$0 : $0 }
        return former == reading ? reading : nil
    }

    /// True once for each time that a lane stops. `overdue`: age of the oldest due delivery in seconds; nil if none
    /// is due. `isIdle`: attempts may start and none is in flight. A lane that works again can be reported again.
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
