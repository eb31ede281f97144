import Foundation
import SignalboxEgress
package import SignalboxNotification

/// Decides what the gateway does about a tap, and stores the file of a calendar action.
///
/// The gateway acts on `snooze` and `calendar` only; the app or a receiver handles every other type. An action with a
/// mistake that makes it unusable is refused. Checks by ``ActionTypes`` are pure; only a calendar file needs the
/// disk. Callable from any task.
package struct TapDecider: Sendable {
    private let types: ActionTypes
    private let ids: EventIDSource
    /// May take as long as a disk write.
    private let keep: @Sendable ([UInt8]) async throws -> TapOutcome.CalendarMedia

    /// `keep`: stores a calendar file for receivers to download. If it throws, the app handles the tap. `types`: the
    /// actions that the config defines or restricts. `ids`: for the events of snoozed notifications. Equal bytes
    /// given to `keep` must yield equal files, so that repeated taps share one.
    package init(
        types: ActionTypes, ids: EventIDSource = EventIDSource(),
        keep: @escaping @Sendable ([UInt8]) async throws -> TapOutcome.CalendarMedia
    ) { (self.types, self.ids, self.keep) = (types, ids, keep) }

    /// Destinations of taps on an action, in addition to those of the routes. Empty for built-in types. In the order
    /// of the config.
    func destinations(for action: Action) -> [DestinationName] { types.custom(action)?.destinations ?? [] }

    /// Checks the action, and snoozes the notification or stores a calendar file if the action requires it. Never
    /// throws: a failure to store a calendar file becomes a problem of the tap. `now`: the start of a snooze. Stores
    /// the file on every call; a repeated tap stores the same content.
    func decide(_ tap: Tap, at now: Date) async -> DecidedTap {
        var problems = types.problems(with: tap.action, options: tap.options)
        let outcome = await outcome(of: tap, at: now, &problems)
        return DecidedTap(tap: tap, problems: problems, outcome: outcome)
    }

    /// Appends the problems that only the action itself can find, such as a snooze beyond the notification's expiry.
    /// A notification without `notAfter` may be snoozed for as long as the action says.
    private func outcome(of tap: Tap, at now: Date, _ problems: inout [ActionProblem]) async -> TapOutcome {
        if problems.contains(where: \.isRefusal) { return .refused }
        // A type that the config defines is the receiver's to handle, even if it has the name of a built-in type.
        guard types.custom(tap.action) == nil else { return .passed }
        switch tap.action.type {
        case .snooze:
            guard let minutes = tap.action.snoozeMinutes else { return .passed }
            let until = now.addingTimeInterval(TimeInterval(minutes * 60))
            if let end = tap.notification.notAfter, end <= Timestamp(until) {
                problems.append(ActionProblem(.snoozeTooLong, "The notification expires before that, at \(end.text)."))
                return .refused
            }
            return .snoozed(minutes: minutes, until: until, ids.next(at: now))
        case .calendar:
            // The notification's time, not the report's: the file depends on event and action only, and a second tap
            // makes the same file.
            let stamp = Normalizer.date(tap.notification.time) ?? .distantPast
            do {
                let file = try CalendarFile(action: tap.action, uid: Self.uid(of: tap), stamp: stamp)
                return .rendered(try await keep(file.bytes))
            } catch let problem as ActionProblem {
                problems.append(problem)
            } catch {
                problems.append(ActionProblem(.calendarNotKept, "The calendar file could not be stored: \(error)"))
            }
            // The app can still handle the tap itself.
            return .passed
        default: return .passed
        }
    }

    /// The UID of the calendar event (RFC 5545, 3.8.4.7). It contains the id of the notification before any snooze, so
    /// it is unique among gateways, and the same after a snooze. Each button has its own. A stable UID lets a calendar
    /// replace an event that is imported twice.
    private static func uid(of tap: Tap) -> String {
        guard case .button(let identifier) = tap.interaction.choice else { return tap.notification.firstID }
        return tap.notification.firstID + "-" + hexadecimal(sha256(Array(identifier.utf8)).prefix(8))
    }
}
