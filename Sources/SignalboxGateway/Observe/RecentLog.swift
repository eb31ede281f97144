import SignalboxEgress
package import SignalboxNotification
import Synchronization

/// The newest events, deliveries and changes of destinations, in memory. A restart begins with an empty log.
///
/// It has a sample: ``SampleGate`` decides which occurrences it has, and the others are counted. A class because all
/// threads share it. Readers ask it in intervals, so an append wakes no task.
package final class RecentLog: Sendable {
    /// The largest payload that an entry refers to.
    static let largestPayload = 16 * 1024

    /// Count all occurrences without a lock; only those that the log has take the lock below.
    private let events = Atomic<Int64>(0)
    private let deliveries = Atomic<Int64>(0)
    private let changes = Atomic<Int64>(0)
    private let ring: Mutex<RecentRing>
    private let isKeeping: Atomic<Bool>
    /// Distinguishes the cursors of this process from those of an earlier one.
    private let mark = hexadecimal(randomBytes(4))

    init(limit: Int) {
        ring = Mutex(RecentRing(limit: limit))
        isKeeping = Atomic(limit > 0)
    }

    /// False if the config has switched the log off.
    package var isOn: Bool { isKeeping.load(ordering: .relaxed) }

    /// Applies another limit, and drops the entries beyond it.
    func set(limit: Int) {
        isKeeping.store(limit > 0, ordering: .relaxed)
        ring.withLock { $0.limit = limit }
    }

    // MARK: Appending

    /// Counts occurrences that are not shown.
    func pass(_ kind: RecentEntry.Kind, count: Int = 1) {
        switch kind {
        case .event: events.add(Int64(count), ordering: .relaxed)
        case .delivery: deliveries.add(Int64(count), ordering: .relaxed)
        case .destination: changes.add(Int64(count), ordering: .relaxed)
        }
    }

    /// Appends an occurrence. Copies no bytes.
    func append(_ item: RecentEntry.Item) {
        var entry = RecentEntry(item)
        ring.withLock { ring in
            // Within the lock: positions have the order of the entries.
            pass(entry.kind)
            entry.position = counted
            ring.append(entry)
        }
    }

    private var counted: RecentPosition {
        RecentPosition(
            events: events.load(ordering: .relaxed), deliveries: deliveries.load(ordering: .relaxed),
            changes: changes.load(ordering: .relaxed))
    }

    // MARK: Reading

    /// Entries that were read in order.
    package struct Reading: Sendable {
        package var entries: [RecentEntry] = []
        /// Everything up to here is among the entries, or is not in the log.
        package var position: RecentPosition
    }

    /// The number of everything that happened so far.
    package var position: RecentPosition { ring.withLock { _ in counted } }

    /// The first entries after a position, in order, at most `most` of them. `events`, `others`: which of them.
    package func read(
        after position: RecentPosition, upTo most: Int, events: Bool = true, others: Bool = true
    ) -> Reading {
        let (entries, now) = ring.withLock { ring in
            (ring.batch(after: position.order, upTo: most, events: events, others: others), counted)
        }
        // More may follow after a full batch.
        let end = entries.count == most ? entries.last?.position : nil
        return Reading(entries: entries, position: end ?? now)
    }

    /// The newest events, the newest first.
    package func newestEvents(upTo most: Int) -> [RecentEvent] { ring.withLock { $0.newestEvents(upTo: most) } }

    /// The payload of a recent event as received; nil if the log does not have it.
    package func payload(of event: EventID) -> [UInt8]? { newestEvents(upTo: .max).first { $0.id == event }?.payload }

    // MARK: Cursors

    /// The largest number of a cursor: sums of three do not overflow.
    private static let largestNumber: Int64 = 1 << 53

    /// A position as clients see it.
    package func cursor(_ position: RecentPosition) -> String {
        "\(mark)-\(position.events)-\(position.deliveries)-\(position.changes)"
    }

    /// Nil for text that is not a cursor. A cursor of an earlier process is the beginning of this log.
    package func position(ofCursor text: String) -> RecentPosition? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard text.utf8.count <= 80, parts.count == 4, parts[0].utf8.count == mark.utf8.count else { return nil }
        let numbers = parts.dropFirst().compactMap { Int64($0) }.filter { (0...Self.largestNumber).contains($0) }
        guard numbers.count == 3 else { return nil }
        guard parts[0] == mark else { return RecentPosition() }
        return RecentPosition(events: numbers[0], deliveries: numbers[1], changes: numbers[2])
    }
}
