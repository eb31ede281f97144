import Foundation
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
package import SignalboxStore

/// A retry or a purge of deliveries from the command line.
package struct DeliveryChange: Sendable {
    private let kind: BulkChange
    private let conditions: DeliveryConditions
    /// Whether the operator consented by an option.
    private let isForced: Bool
    private let reason: String?

    /// `isForced`: does not ask. `reason`: for the action log.
    package init(_ kind: BulkChange, _ conditions: DeliveryConditions, isForced: Bool, reason: String?) {
        (self.kind, self.conditions, self.isForced, self.reason) = (kind, conditions, isForced, reason)
    }

    /// The result for a delivery, as a participle.
    private var verb: String { kind == .retry ? "requeued" : "removed" }

    /// Changes the deliveries, or only previews that, and prints the result. `isTrial`: has no effect. Throws
    /// ``CommandFailure/incomplete(_:)`` with the reasons if a named delivery is not changed.
    package func report(
        in queue: any InspectionStore, isTrial: Bool, asJSON: Bool, print: (String) -> Void
    ) async throws {
        let exceptions = try await exceptions(in: queue)
        let count: Int
        if isTrial {
            let preview = try await preview(in: queue)
            count = preview.count
            if asJSON { print(preview.json) } else { preview.lines(verb).forEach(print) }
        } else {
            count = try await run(in: queue)
            let words = "\(Counted.words(count, "delivery")) \(verb)"
            print(asJSON ? JSONText.members { $0.member("count", count) } : words)
        }
        if kind == .purge, conditions.ids.isEmpty {
            let left = try await queue.inProgressCount(try conditions.filter(now: Date()))
            if let sentence = UnchangedDeliveries.inProgress(left) { StandardError.write("signalbox: \(sentence)\n") }
        }
        guard count < Set(conditions.ids).count else { return }
        throw CommandFailure.incomplete(exceptions ?? "Some of the deliveries changed meanwhile: list them and repeat.")
    }

    /// The deliveries that ``run(in:)`` would change. Has no effect.
    private func preview(in queue: any InspectionStore) async throws -> BulkPreview {
        try await queue.preview(kind, of: try conditions.filter(now: Date()))
    }

    /// Why some of the named deliveries are not changed, as a sentence; nil if all of them can be. Call it before the
    /// change. Has no effect.
    private func exceptions(in queue: any InspectionStore) async throws -> String? {
        guard !conditions.ids.isEmpty else { return nil }
        let selected = try await queue.deliveries(try conditions.filter(now: Date()), limit: conditions.ids.count)
        let named = try await queue.deliveries(DeliveryFilter(ids: conditions.ids), limit: conditions.ids.count)
        return UnchangedDeliveries(kind, named: conditions.ids, found: named, selected: Set(selected.map(\.id)))
            .sentence(verb)
    }

    /// Changes the deliveries, with the operator's consent, and returns their number. A purge removes undelivered ones
    /// only if they were counted before, so none is removed without the question. Throws
    /// ``CommandFailure/refused(_:)`` without consent; no delivery has changed then.
    private func run(in queue: any InspectionStore) async throws -> Int {
        let filter = try conditions.filter(now: Date())
        let action = OperatorAction.command("deliveries.\(kind.rawValue)", filter, reason: reason)
        switch kind {
        case .retry:
            let isAsked = StandardError.canAsk && !isForced && conditions.ids.isEmpty
            let count = isAsked ? try await queue.preview(kind, of: filter).count : 0
            try BulkConsent.retry(
                count, isNamed: !conditions.ids.isEmpty, isForced: isForced, isTerminal: StandardError.canAsk
            ).obtain("No delivery was requeued.")
            return try await queue.retry(filter, as: action)
        case .purge:
            let undelivered = isForced ? 0 : try await queue.undeliveredCount(filter)
            try BulkConsent.purge(undelivered: undelivered, isForced: isForced, isTerminal: StandardError.canAsk)
                .obtain("No delivery was removed.")
            return try await queue.purge(filter, sparingUndelivered: !isForced && undelivered == 0, as: action)
        }
    }
}
