package import Foundation
import SignalboxConfig
import SignalboxGateway
import SignalboxNotification
import SignalboxServer
package import SignalboxStore

/// The conditions on deliveries as the command line spells them. `list`, `retry` and `purge` share them.
package struct DeliveryConditions: Sendable {
    /// Numbers of deliveries; empty for all.
    package var ids: [Int64] = []
    /// Nil for all states.
    package var state: DeliveryRecord.State?
    /// Conditions on the delivery, its event and its last attempt; nil for all.
    package var destination, event, vendor, error: String?
    /// A status of the last attempt such as `503`, or a class such as `5xx`.
    package var status: String?
    /// When the event was accepted: RFC 3339, or an age such as `24h`.
    package var since, until: String?
    /// The same as ``until``, as an age only: `--older-than`. Nil for any age.
    package var olderThan: String?

    /// Selects every delivery.
    package init() {}

    /// True if a condition other than the numbers selects deliveries. Commands that change deliveries require such a
    /// condition or numbers.
    package var isSelective: Bool {
        state != nil || [destination, event, vendor, error, status, since, until].contains { $0 != nil }
    }

    /// The reasons of attempts without an answer, for `--error`.
    package static var errors: [String] { DeliveryFilter.errors }

    /// The filter for the store. `now`: the instant from which ages count. Throws for an invalid status, time or error,
    /// and if `since` is not before `until`.
    package func filter(now: Date) throws(CommandFailure) -> DeliveryFilter {
        var filter = DeliveryFilter(
            ids: ids.isEmpty ? nil : ids, state: state, destination: destination.map { DestinationName($0) },
            event: event)
        (filter.vendor, filter.error) = (vendor, error)
        if let status {
            filter.status = DeliveryFilter.statuses(status)
            guard filter.status != nil else {
                throw .refused(
                    "Invalid --status \(status): write an HTTP status from 100 to 599, or a class such as 5xx.")
            }
        }
        if let error, !Self.errors.contains(error) {
            throw .refused(
                KnownNames.refusal(
                    "error", error, among: Self.errors, else: "Known: \(Self.errors.joined(separator: ", "))."))
        }
        filter.acceptedSince = try Self.moment(since, "--since", now)
        let (end, option) = try end
        filter.acceptedBefore = try Self.moment(end, option, now)
        if let since = filter.acceptedSince, let end = filter.acceptedBefore, since >= end {
            throw .refused("--since is not before \(option), so they select nothing.")
        }
        return filter
    }

    /// The end of the period, with the name of its option.
    private var end: (text: String?, option: String) {
        get throws(CommandFailure) {
            guard let olderThan else { return (until, "--until") }
            guard until == nil else { throw .refused("Use --older-than or --until, not both.") }
            guard Duration(text: olderThan) != nil else {
                throw .refused("Invalid --older-than \(olderThan): write it as 30d, with ms, s, m, h or d.")
            }
            return (olderThan, "--older-than")
        }
    }

    /// Throws for a state whose deliveries a retry leaves as they are: it would select none.
    package func checkRetry() throws(CommandFailure) {
        guard let state, state == .delivered || state == .expired else { return }
        throw .refused("Invalid --state \(state.rawValue): only dead and waiting deliveries can be requeued.")
    }

    /// Nil without the option. `option`: its name, for the message.
    private static func moment(_ text: String?, _ option: String, _ now: Date) throws(CommandFailure) -> Date? {
        guard let text else { return nil }
        guard let moment = ReplayText.moment(text, now: now) else {
            throw .refused(
                "Invalid \(option) \(text): write RFC 3339, such as 2026-11-20T21:29:00Z, or an age such as 24h.")
        }
        return moment.date
    }
}
