import SignalboxGateway

/// Decides the frames of one reader of the live view, and their times. A value without a clock: the caller passes the
/// time.
struct LiveSession: Sendable {
    /// How long a reader waits for anything at all.
    static let silence: Int64 = 15_000_000_000
    /// The time between two reports of missing occurrences without a frame after them, and between two counts.
    private static let second: Int64 = 1_000_000_000
    /// Entries that one acquisition of the log's lock reads, and the most readings of one tick.
    private static let (step, mostSteps) = (256, 8)

    private let selection: LiveSelection
    private let observation: Observation
    /// At most one second's worth of frames, so a slow reader costs little memory.
    private var backlog: LiveBacklog
    /// Nanoseconds of the observation's clock.
    private var lastBytes: Int64
    /// The time of the last report of missing occurrences without a frame.
    private var lastGap: Int64 = 0
    /// The time of the last counts. The first ones follow a second after the start.
    private var lastStats: Int64
    /// Whether ``bytes(at:)`` has returned the beginning of the stream.
    private var isBegun = false

    /// `position`: the last one that a reader has; nil to begin with the next occurrence. `now`: nanoseconds of the
    /// clock.
    init(_ selection: LiveSelection, of observation: Observation, after position: RecentPosition?, at now: Int64) {
        (self.selection, self.observation) = (selection, observation)
        let end = observation.recent.position
        // A position ahead of the log comes from no answer of this process.
        let start = position.map { $0.isBehind(end) ? $0 : end } ?? end
        backlog = LiveBacklog(selection.kinds, most: selection.rate, after: start)
        (lastBytes, lastStats) = (now, now)
    }

    /// Frames of a tick, and the time between two ticks.
    private var framesPerTick: Int { max(1, selection.rate / 5) }
    /// About 200 ms, and longer for rates below five, so that each tick may send a frame.
    var tick: Duration { .seconds(framesPerTick) / selection.rate }

    /// The bytes to send now; empty for none. Called once each ``tick``. The first bytes have the position at which the
    /// stream begins. Gaps without a frame after them are reported once a second, and a comment follows ``silence``.
    mutating func bytes(at now: Int64) -> [UInt8] {
        read()
        var frames = LiveFrames(cursor: { [recent = observation.recent] in recent.cursor($0) })
        if !isBegun {
            frames.begin(at: backlog.position)
            isBegun = true
        }
        for _ in 0..<framesPerTick {
            guard let frame = backlog.next() else { break }
            if frame.dropped > 0 { frames.gap(frame.dropped) }
            frames.entry(frame.entry, hidesContent: selection.hidesContent)
        }
        if now - lastGap >= Self.second {
            let dropped = backlog.takeDropped()
            if dropped > 0 {
                frames.gap(dropped, at: backlog.position)
                lastGap = now
            }
        }
        if selection.hasStats, now - lastStats >= Self.second {
            lastStats = now
            frames.stats(observation.activity.series(window: 1, step: 1))
        }
        if frames.bytes.isEmpty, now - lastBytes >= Self.silence { frames.ping() }
        if !frames.bytes.isEmpty { lastBytes = now }
        return frames.bytes
    }

    /// Reads at most ``step`` times ``mostSteps`` entries; the next tick reads on. A reader of counts alone reads no
    /// entry.
    private mutating func read() {
        let (selection, kinds) = (selection, selection.kinds)
        let (hasEvents, hasOthers) = (kinds.contains(.event), kinds != [.event] && !kinds.isEmpty)
        guard !kinds.isEmpty else { return }
        for _ in 0..<Self.mostSteps {
            let reading = observation.recent.read(
                after: backlog.position, upTo: Self.step, events: hasEvents, others: hasOthers)
            backlog.append(reading) { selection.selects($0) }
            if reading.entries.count < Self.step { return }
        }
    }
}

extension RecentPosition {
    /// Whether no count of this position exceeds that of the other. Equal positions count as behind.
    fileprivate func isBehind(_ other: RecentPosition) -> Bool {
        events <= other.events && deliveries <= other.deliveries && changes <= other.changes
    }
}
