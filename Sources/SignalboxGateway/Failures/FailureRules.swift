package import SignalboxConfig
import SignalboxNotification
import SignalboxRouting
import Synchronization

/// The failure rules of the process: those of the API live in memory, those of the config follow its reloads. Safe for
/// concurrent use.
package final class FailureRules: Sendable {
    // A class because all requests count in it, and it outlives each config.
    private let decider = Mutex(FailureDecider())
    /// Read for each push, so that a gateway without rules takes no lock.
    private let isEmpty = Atomic(true)

    package init() {}

    /// The rules with their counters, in the order of evaluation.
    package var entries: [FailureDecider.Entry] { decider.withLock { $0.entries } }

    /// Replaces the rules of the config. Equal rules keep their counters.
    package func replaceFile(by rules: [PreparedFailure]) { change { $0.replaceFile(by: rules) } }

    /// Adds a rule of the API; see ``FailureDecider/put(_:)``.
    package func put(_ rule: PreparedFailure) -> Bool? { change { $0.put(rule) } }

    /// Removes a rule of the API. Returns false if there is none of this name.
    package func remove(_ name: String) -> Bool { change { $0.remove(name) } }

    /// Sets all counters to 0.
    package func reset() { change { $0.reset() } }

    private func change<R: Sendable>(_ body: (inout FailureDecider) -> R) -> R {
        decider.withLock { decider in
            let result = body(&decider)
            isEmpty.store(decider.entries.isEmpty, ordering: .releasing)
            return result
        }
    }

    /// The rule that takes each push, by position; pushes without one are missing. Counts the pushes, in order. A push
    /// whose event cannot be read, or matched within the limit of work, is selected by no pattern. `intake`: makes
    /// the events that patterns match.
    package func decide(_ pushes: ArraySlice<ProviderPush>, by intake: Intake) -> [Int: FailureRule] {
        guard !isEmpty.load(ordering: .acquiring), !pushes.isEmpty else { return [:] }
        // Patterns are matched without the lock: events may be large.
        let entries = entries
        let selected = pushes.map { Self.selected(entries, by: $0, intake) }
        return decider.withLock { decider in
            var taken: [Int: FailureRule] = [:]
            for (position, ids) in zip(pushes.indices, selected) { taken[position] = decider.decide(ids) }
            return taken
        }
    }

    /// The ids of the rules that select a push. Token and event are made once, and only if a rule needs them. All
    /// patterns share the limit of work of one event on an event loop.
    private static func selected(_ entries: [FailureDecider.Entry], by push: ProviderPush, _ intake: Intake) -> [Int] {
        let needsToken = entries.contains { !$0.prepared.tokens.isEmpty }
        let token = needsToken ? push.token.map { intake.normalizer.tokens.name(of: $0) } : nil
        let subject = FailureSubject(push, token: token)
        let candidates = entries.filter { $0.prepared.mismatch(subject) == nil }
        guard candidates.contains(where: { $0.prepared.selector.pattern != nil }) else { return candidates.map(\.id) }
        let event = try? intake.preview(of: push)
        return ParserPool.events.withParser { parser in
            // The parsed event points into its bytes.
            defer { withExtendedLifetime(event) {} }
            let body = event.flatMap { try? parser.read($0, at: PayloadPosition()) }
            var work = MatchWork(limit: Intake.directWork)
            return candidates.filter { $0.prepared.matches(body, work: &work) }.map(\.id)
        }
    }
}
