package import SignalboxInApp
import SignalboxNotification
import Synchronization

/// Counts decisions since the start of the process. Callable from any thread. A class because all requests share it.
/// Counters never decrease. They are changed after the commit, so a decision that was rolled back does not count.
package final class InAppCounts: Sendable {
    /// The result of a request for a message, or of one slot.
    /// Raw values are labels of a metric.
    package enum Result: String, Sendable, CaseIterable {
        case offered, none
        /// Held back from a member of a control group.
        case held
        /// A repeated request, answered as before.
        case repeated
    }

    /// How a report was answered.
    /// Raw values are labels of a metric.
    package enum Reply: String, Sendable, CaseIterable { case accepted, repeated, contradicted, unknown }

    /// All counts at one time.
    package struct Values: Sendable {
        package fileprivate(set) var decisions: [Result: Int] = [:]
        /// By the word of the outcome.
        package fileprivate(set) var reports: [String: Int] = [:]
        package fileprivate(set) var replies: [Reply: Int] = [:]
        /// By vendor; unknown vendors together are `other`.
        package fileprivate(set) var offers: [Vendor: Int] = [:]
        /// Events for which the routes took too much work.
        package fileprivate(set) var costly = 0
    }

    /// Vendors with a count of their own. Labels of metrics must come from a closed set.
    package static let vendors: [Vendor] = Set(Vendors.all.flatMap(\.vendors).map(\.name)).sorted() + ["own", "other"]
    private static let known = Set(vendors)

    private let values = Mutex(Values())

    /// All zero.
    package init() {}

    /// A copy; later requests do not change it.
    package var current: Values { values.withLock { $0 } }

    /// An answered request or slot.
    func count(_ result: Result) { values.withLock { $0.decisions[result, default: 0] += 1 } }

    /// `outcome`: as the client reported it. Only accepted reports are counted by outcome, so that repeats do not
    /// count twice.
    func count(_ reply: Reply, of outcome: Report.Outcome) {
        values.withLock { values in
            values.replies[reply, default: 0] += 1
            if reply == .accepted { values.reports[outcome.word, default: 0] += 1 }
        }
    }

    /// A report that was not accepted.
    func count(_ failure: InAppFailure) {
        switch failure {
        case .unknownOffer: values.withLock { $0.replies[.unknown, default: 0] += 1 }
        case .contradicts: values.withLock { $0.replies[.contradicted, default: 0] += 1 }
        case .malformed, .mayNotExplain, .foreignDevice, .unknownMessage, .store: break
        }
    }

    /// The events of a committed decision.
    func count(_ records: [Record], costly: Int) {
        guard !records.isEmpty else { return }
        values.withLock { values in
            values.costly += costly
            for record in records where record.kind == .offered {
                guard let vendor = record.offer?.vendor else { continue }
                values.offers[Self.known.contains(vendor) ? vendor : "other", default: 0] += 1
            }
        }
    }
}
