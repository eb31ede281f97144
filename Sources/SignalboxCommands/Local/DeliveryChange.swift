import Foundation
import SignalboxGateway
package import SignalboxStore

/// A retry or a purge of deliveries from the command line.
package struct DeliveryChange: Sendable {
    private let kind: BulkChange
    private let conditions: DeliveryConditions
    private let isForced: Bool
    private let reason: String?

    /// `isForced`: does not ask. `reason`: for the action log.
    package init(_ kind: BulkChange, _ conditions: DeliveryConditions, isForced: Bool, reason: String?) {
        (self.kind, self.conditions, self.isForced, self.reason) = (kind, conditions, isForced, reason)
    }

    /// The result for a delivery, as a participle.
    package var verb: String { kind == .retry ? "requeued" : "removed" }

    /// The deliveries that ``run(in:)`` would change. Has no effect.
    package func preview(in queue: any InspectionStore) async throws -> BulkPreview {
        try await queue.preview(kind, of: try conditions.filter(now: Date()))
    }

    /// Changes the deliveries, with the operator's consent, and returns their number. Deliveries that were
    /// never delivered are purged only if they were counted before, so no question is evaded.
    package func run(in queue: any InspectionStore) async throws -> Int {
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
