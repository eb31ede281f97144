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
        let selected = pushes.map { push in
            var facts = PushFacts(push, intake)
            return entries.filter { facts.areSelected(by: $0.prepared) }.map(\.id)
        }
        return decider.withLock { decider in
            var taken: [Int: FailureRule] = [:]
            for (position, ids) in zip(pushes.indices, selected) { taken[position] = decider.decide(ids) }
            return taken
        }
    }
}

/// Properties of a push that are computed once, for the first rule that needs them.
private struct PushFacts {
    private let push: ProviderPush
    private let intake: Intake
    private lazy var token = push.token.map { intake.normalizer.tokens.name(of: $0) }
    private lazy var event = try? intake.preview(of: push)

    init(_ push: ProviderPush, _ intake: Intake) {
        self.push = push
        self.intake = intake
    }

    mutating func areSelected(by prepared: PreparedFailure) -> Bool {
        guard prepared.selects(push, token: prepared.tokens.isEmpty ? nil : token) else { return false }
        guard let pattern = prepared.selector.pattern else { return true }
        guard let event else { return false }
        return ParserPool.events.withParser { parser in
            guard let body = try? parser.read(event, at: PayloadPosition()) else { return false }
            return (try? pattern.matches(body)) ?? false
        }
    }
}
