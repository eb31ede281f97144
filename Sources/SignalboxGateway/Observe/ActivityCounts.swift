package import Foundation
import SignalboxNotification
import Synchronization

/// Counts of the last 15 minutes by the second, and totals since the start, in memory.
///
/// Threads count into parts of their own; a part is added to the common series when its second is over, and before a
/// read. A class because all threads share it.
package final class ActivityCounts: Sendable {
    /// A group of series. Raw values are the words of the API.
    package enum Group: String, Sendable, CaseIterable {
        /// Accepted events, by vendor.
        case received
        /// Refused payloads, by code.
        case rejected
        /// Delivered events, by destination.
        case delivered
        /// Failed attempts, by destination.
        case failed
    }

    /// The name of one series.
    struct Label: Hashable, Sendable {
        let group: Group
        let name: String
    }

    /// A warning code of a vendor.
    struct WarningLabel: Hashable, Sendable {
        let vendor: String
        let code: String
    }

    /// The most names of a group, and warning codes of a vendor; further ones count as ``other``.
    static let mostNames = 200
    /// The name of everything beyond ``mostNames``.
    static let other = "other"

    /// The counts of one part for one second.
    struct Part: Sendable {
        fileprivate(set) var second: Int64 = 0
        /// Accepted events, which are counted most often, by a key that is found faster than a label.
        fileprivate(set) var received: [VendorID: Int] = [:]
        fileprivate(set) var counts: [Label: Int] = [:]
        fileprivate(set) var warnings: [WarningLabel: Int] = [:]

        fileprivate var isEmpty: Bool { received.isEmpty && counts.isEmpty && warnings.isEmpty }
    }

    private let parts = Sharded(Part())
    private let history = Mutex(ActivityHistory())
    private let clock: ObservationClock

    init(_ clock: ObservationClock) { self.clock = clock }

    /// Adds to a series. `now`: nanoseconds of the clock.
    func count(_ group: Group, _ name: String, times: Int = 1, at now: Int64) {
        let second = clock.second(at: now)
        parts.withCurrent { part in
            advance(&part, to: second)
            part.counts[Label(group: group, name: name), default: 0] += times
        }
    }

    /// Adds the accepted events of a request and their warnings: an event counts once for each code.
    func count(_ tally: EventTally, at now: Int64) {
        let second = clock.second(at: now)
        parts.withCurrent { part in
            advance(&part, to: second)
            for group in tally.groups { part.received[group.first.event.vendor, default: 0] += group.count }
            for warned in tally.warned {
                for code in warned.event.warningCodes {
                    part.warnings[WarningLabel(vendor: warned.event.vendor.name, code: code), default: 0] += 1
                }
            }
        }
    }

    /// Once a second for each part.
    private func advance(_ part: inout Part, to second: Int64) {
        guard part.second != second else { return }
        flush(&part)
        part.second = second
    }

    private func flush(_ part: inout Part) {
        guard !part.isEmpty else { return }
        history.withLock { $0.add(part) }
        part.received.removeAll(keepingCapacity: true)
        part.counts.removeAll(keepingCapacity: true)
        part.warnings.removeAll(keepingCapacity: true)
    }

    // MARK: Reading

    /// Sums of the last complete seconds, by group and name.
    package struct Series: Sendable, Equatable {
        /// The beginning of the first step.
        package let from: Date
        /// Seconds of a step.
        package let step: Int
        /// One number for each step; names without a count in the window are left out.
        package let sums: [Group: [String: [Int]]]
    }

    /// The last complete seconds in steps. `window` and `step` in seconds; the window is at most 15 minutes and at
    /// least a step.
    package func series(window: Int, step: Int) -> Series {
        let steps = max(1, min(window, SecondSeries.length - 1) / step)
        let first = clock.second(at: clock.nanoseconds()) - Int64(steps * step)
        return Series(
            from: Date(timeIntervalSince1970: Double(first)), step: step,
            sums: reading { $0.sums(from: first, steps: steps, of: step) })
    }

    /// Events and warnings of every vendor since the start.
    package struct VendorTotals: Sendable, Equatable {
        package let events: Int
        package let warnings: [String: Int]
    }

    /// By vendor.
    package var vendors: [String: VendorTotals] { reading { $0.vendors } }

    private func reading<R: Sendable>(_ read: (ActivityHistory) -> R) -> R {
        parts.forEach { flush(&$0) }
        // Sums are computed on a copy, because accepts wait for the lock.
        return read(history.withLock { $0 })
    }
}

/// The counts of all parts. A value without a lock.
struct ActivityHistory: Sendable {
    private var series: [ActivityCounts.Group: [String: SecondSeries]] = [:]
    private var totals: [String: Int] = [:]
    private var warnings: [String: [String: Int]] = [:]

    /// Adds the counts of a part's second.
    mutating func add(_ part: ActivityCounts.Part) {
        for (vendor, count) in part.received { add(count, to: .received, vendor.name, at: part.second) }
        for (label, count) in part.counts { add(count, to: label.group, label.name, at: part.second) }
        for (label, count) in part.warnings {
            let vendor = Self.name(label.vendor, in: self.warnings)
            let code = Self.name(label.code, in: self.warnings[vendor])
            self.warnings[vendor, default: [:]][code, default: 0] += count
        }
    }

    private mutating func add(_ count: Int, to group: ActivityCounts.Group, _ label: String, at second: Int64) {
        let name = Self.name(label, in: series[group])
        series[group, default: [:]][name, default: SecondSeries()].add(count, at: second)
        if group == .received { totals[Self.name(label, in: totals), default: 0] += count }
    }

    private static func name<Value>(_ name: String, in known: [String: Value]?) -> String {
        guard let known, known[name] == nil, known.count >= ActivityCounts.mostNames else { return name }
        return ActivityCounts.other
    }

    func sums(from first: Int64, steps: Int, of step: Int) -> [ActivityCounts.Group: [String: [Int]]] {
        series.mapValues { names in
            names.mapValues { $0.sums(from: first, steps: steps, of: step) }.filter { $1.contains { $0 > 0 } }
        }.filter { !$1.isEmpty }
    }

    var vendors: [String: ActivityCounts.VendorTotals] {
        Set(totals.keys).union(warnings.keys).reduce(into: [:]) { vendors, name in
            vendors[name] = ActivityCounts.VendorTotals(events: totals[name] ?? 0, warnings: warnings[name] ?? [:])
        }
    }
}
