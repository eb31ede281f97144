import SignalboxNotification
package import SignalboxRouting

/// An event pattern over recent events.
package struct StreamFilter: Sendable {
    private let pattern: Pattern
    /// The most work on one event, so that no event delays the others.
    private static let work = Intake.directWork

    package init(_ pattern: Pattern) { self.pattern = pattern }

    /// Also false for an event on which the pattern takes too much work. Parses the event.
    package func matches(_ event: [UInt8]) -> Bool {
        ParserPool.events.withParser { parser in
            guard let event = EventDocument(event, with: parser) else { return false }
            return event.withRoot { root, _ in
                var work = MatchWork(limit: Self.work)
                do throws(RoutingTooCostly) { return try pattern.matches(root, work: &work) } catch { return false }
            }
        }
    }
}
