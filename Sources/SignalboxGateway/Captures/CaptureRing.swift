import DequeModule
import SignalboxConfig

/// The newest captures of the process, within limits. A value without a lock.
///
/// Refused pushes have a ring of their own: a client without access can send any number of them, and they must not
/// displace the pushes of identified senders.
struct CaptureRing: Sendable {
    /// The most refused pushes.
    static let mostRefused = 1000

    /// Captures of identified senders, and refused ones; each in the order of their numbers.
    private var identified = Deque<Capture>()
    private var refused = Deque<Capture>()
    /// The approximate memory of all captures.
    private(set) var bytes = 0
    /// The number of the newest capture so far; 0 before the first.
    private(set) var last: Int64 = 0
    /// The highest number of an identified sender that was dropped because of a limit; 0 before the first.
    private(set) var dropped: Int64 = 0
    /// The highest number of a refused push that was dropped because of a limit; 0 before the first.
    private(set) var droppedRefused: Int64 = 0
    /// Setting smaller limits drops captures at once.
    var limits: GatewayConfig.Captures { didSet { trim() } }

    init(limits: GatewayConfig.Captures) { self.limits = limits }

    var count: Int { identified.count + refused.count }

    /// The highest number of a dropped capture that the selection might have contained; 0 before the first.
    func dropped(from selection: CaptureSelection) -> Int64 {
        selection.mayHaveRefused ? max(dropped, droppedRefused) : dropped
    }

    /// Gives the capture the next number, and drops the oldest ones beyond the limits.
    mutating func append(_ capture: Capture) {
        var capture = capture
        last += 1
        capture.number = last
        capture.measure()
        bytes += capture.bytes
        if capture.isRefusal { refused.append(capture) } else { identified.append(capture) }
        trim()
    }

    /// The first captures after a number, in order.
    func batch(after number: Int64, upTo most: Int) -> [Capture] {
        let found = [identified, refused].flatMap { $0[$0.start(behind: number, by: \.number)...].prefix(most) }
        return Array(found.sorted { $0.number < $1.number }.prefix(most))
    }

    /// The last captures before a number, the newest first.
    func newest(before number: Int64, upTo most: Int) -> [Capture] {
        let found = [identified, refused].flatMap { $0[..<$0.start(behind: number - 1, by: \.number)].suffix(most) }
        return Array(found.sorted { $0.number > $1.number }.prefix(most))
    }

    /// Removes the captures of a run, or all; returns their number. Numbers are not used again.
    mutating func remove(run: String?) -> Int {
        let before = count
        identified.removeAll { run == nil || $0.run == run }
        refused.removeAll { run == nil || $0.run == run }
        bytes = identified.reduce(0) { $0 + $1.bytes } + refused.reduce(0) { $0 + $1.bytes }
        return before - count
    }

    private mutating func trim() {
        while refused.count > min(Self.mostRefused, limits.count) { dropRefused() }
        while identified.count > limits.count { dropIdentified() }
        // Refused pushes first: they have no event.
        while bytes > limits.bytes, !refused.isEmpty { dropRefused() }
        while bytes > limits.bytes, !identified.isEmpty { dropIdentified() }
    }

    private mutating func dropRefused() {
        guard let oldest = refused.popFirst() else { return }
        bytes -= oldest.bytes
        droppedRefused = oldest.number
    }

    private mutating func dropIdentified() {
        guard let oldest = identified.popFirst() else { return }
        bytes -= oldest.bytes
        dropped = oldest.number
    }
}
