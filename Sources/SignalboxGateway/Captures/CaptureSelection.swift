package import Foundation
import SignalboxJSON
package import SignalboxNotification
package import SignalboxRouting

/// Conditions on captures, which must all hold.
package struct CaptureSelection: Sendable {
    /// Only captures with this run label; nil for all.
    package var run: String?
    /// Only captures of this source; nil for all.
    package var source: SourceName?
    /// Only captures of this push service; nil for all.
    package var service: PushService?
    /// The earliest time of a capture, inclusive.
    package var since: Date?
    /// The hash of the device token.
    package var token: String?
    /// The hash of another spelling of it, which is selected too.
    package var otherToken: String?
    /// Nil for all outcomes.
    package var outcome: Capture.Outcome?
    /// A pattern over the event; without one, pushes without an event are selected too.
    package var match: EventMatch?

    /// Selects everything.
    package init() {}

    /// Whether a push that was refused before it became an event can meet the conditions.
    var mayHaveRefused: Bool { match == nil && (outcome == nil || outcome == .rejected) }

    /// A pattern and its text, for explanations.
    package struct EventMatch: Sendable {
        let pattern: Pattern
        let text: [UInt8]

        /// `text`: the text of the pattern.
        package init(_ pattern: Pattern, text: [UInt8]) { (self.pattern, self.text) = (pattern, text) }
    }

    /// The most work of the pattern on one event, so that no event delays a wait.
    private static let work = Intake.directWork

    /// Whether the capture meets all conditions. False if the pattern takes too much work on its event.
    func matches(_ capture: Capture) -> Bool {
        guard run == nil || run == capture.run, source == nil || source == capture.source,
            service == nil || service == capture.service, outcome == nil || outcome == capture.outcome,
            since.map({ capture.time >= $0 }) ?? true
        else { return false }
        guard token != nil || match != nil else { return true }
        // Only here: a selection without conditions on the content parses no event.
        guard let event = capture.event else { return match == nil && selects(token: capture.addressee.token) }
        return ParserPool.events.withParser { parser in
            guard let event = EventDocument(event, with: parser) else { return false }
            if token != nil, !selects(token: event.text("data", "target", "token")) { return false }
            guard let match else { return true }
            return event.withRoot { root, _ in
                var work = MatchWork(limit: Self.work)
                return (try? match.pattern.matches(root, work: &work)) ?? false
            }
        }
    }

    /// `name`: of the token of a capture.
    private func selects(token name: String?) -> Bool { token == name || (otherToken != nil && otherToken == name) }

    /// The first condition that the capture does not meet; nil if it meets all.
    ///
    /// A refused push may lack a source or a token, because it was refused before they were known. Then the refusal is
    /// the reason, not the missing value.
    func mismatch(of capture: Capture) -> CaptureMismatch? {
        let isOther = outcome.map { $0 != capture.outcome } ?? false
        let addressee = capture.knownAddressee
        func differs<T: Equatable>(_ expected: T?, _ actual: T?) -> Bool {
            guard let expected, expected != actual else { return false }
            return actual != nil || !(isOther && capture.outcome == .rejected)
        }
        if let run, run != capture.run { return CaptureMismatch("run", run, capture.run) }
        if differs(source, capture.source) { return CaptureMismatch("source", source?.name, capture.source?.name) }
        if let service, service != capture.service {
            return CaptureMismatch("platform", service.rawValue, capture.service.rawValue)
        }
        if let since, capture.time < since {
            return CaptureMismatch("since", Timestamp(since).text, Timestamp(capture.time).text)
        }
        if !selects(token: addressee.token), differs(token, addressee.token) {
            return CaptureMismatch("token", token, addressee.token)
        }
        if isOther { return CaptureMismatch("outcome", outcome?.rawValue, capture.outcome.rawValue) }
        return match.flatMap { $0.mismatch(of: capture.event) }
    }
}

/// The condition that keeps a capture from being selected.
package struct CaptureMismatch: Sendable, Equatable {
    /// The parameter of the request, or the JSON Pointer of a field of the event.
    package let condition: String
    /// The value in the request; nil for a value that must be absent.
    package let expected: String?
    /// The value of the capture; nil if it has none.
    package let actual: String?

    init(_ condition: String, _ expected: String?, _ actual: String?) {
        (self.condition, self.expected, self.actual) = (condition, expected, actual)
    }

    /// A sentence without a full stop.
    package var words: String { "\(condition) is \(actual ?? "absent"), expected \(expected ?? "no value")" }
}

extension Capture {
    /// The addressee; read from the event of an accepted push.
    package var knownAddressee: Addressee {
        guard let event else { return addressee }
        return ParserPool.events.withParser { parser in
            guard let event = EventDocument(event, with: parser) else { return addressee }
            return Addressee(
                token: event.text("data", "target", "token"), topic: event.text("data", "target", "topic"),
                condition: event.text("data", "target", "condition"),
                channel: event.text("data", "target", "channel"), project: addressee.project)
        }
    }
}

extension CaptureSelection.EventMatch {
    /// The most Unicode scalars of a value in an explanation.
    private static let longest = 200

    /// The first field that keeps the event from matching.
    fileprivate func mismatch(of event: [UInt8]?) -> CaptureMismatch? {
        guard let event else { return CaptureMismatch("match", "an accepted push", "a push without an event") }
        return ParserPool.events.withParser { parser in
            guard let event = EventDocument(event, with: parser) else { return nil }
            return event.withRoot { root, _ in
                var work = MatchWork(limit: Intake.directWork)
                do throws(RoutingTooCostly) {
                    guard let found = try pattern.mismatch(in: root, work: &work) else { return nil }
                    let actual = found.found.map { JSONText($0).string.beginning(ofScalars: Self.longest) }
                    return CaptureMismatch(found.pointer, expected(at: found.pointer), actual)
                } catch {
                    return CaptureMismatch("match", "a pattern within the work limit", "too much work for this event")
                }
            }
        }
    }

    /// The part of the pattern at a pointer; the whole pattern if it has none there, as below `$or`.
    private func expected(at pointer: String) -> String {
        JSONParser.read(text) { root in
            let part = JSONPointer(pointer)?.value(in: root) ?? root
            return JSONText(part).string.beginning(ofScalars: Self.longest)
        } ?? "the pattern"
    }
}
