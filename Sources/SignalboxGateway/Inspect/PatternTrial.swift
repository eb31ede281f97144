import SignalboxJSON
import SignalboxNotification
package import SignalboxRouting
package import SignalboxStore

/// A pattern tried on events: how many match, and samples of those that do and do not.
package struct PatternTrial: Sendable {
    /// An event, and why it does not match.
    package struct Sample: Sendable {
        package let event: EventBody
        /// Nil for an event that matches.
        package let mismatch: Mismatch?
    }

    /// The first field that keeps an event from matching.
    package struct Mismatch: Sendable {
        /// JSON Pointer into the event.
        package let pointer: String
        /// The value there; nil if the event has none. At most ``longest`` scalars of JSON text.
        package let found: String?
    }

    /// The most samples of each kind.
    package static let mostSamples = 50
    /// The most Unicode scalars of a value that was found.
    package static let longest = 200

    /// Events that were tried.
    package private(set) var seen = 0
    /// The events among ``seen`` that match.
    package private(set) var matched = 0
    /// In the order of the events.
    package private(set) var samples: [Sample] = []
    /// Whether every event was tried: false if the work exceeded its limit.
    package private(set) var isComplete = true

    /// `events`: bodies that cannot be read count as seen. `slices`: the deadline of the trial.
    package init(_ pattern: Pattern, on events: some Sequence<EventBody>, within slices: WorkSlices) async {
        var (mismatches, slices) = (0, slices)
        for event in events {
            guard await slices.advance() else {
                isComplete = false
                return
            }
            seen += 1
            switch Self.result(of: pattern, on: event, explains: mismatches < Self.mostSamples) {
            case .matches:
                matched += 1
                if matched <= Self.mostSamples { samples.append(Sample(event: event, mismatch: nil)) }
            case .differs(let mismatch?):
                mismatches += 1
                samples.append(Sample(event: event, mismatch: mismatch))
            case .differs(nil): break
            case .tooCostly: isComplete = false
            }
        }
    }

    private enum Result {
        case matches
        case differs(Mismatch?)
        case tooCostly
    }

    /// `explains`: whether to find the field.
    private static func result(of pattern: Pattern, on event: EventBody, explains: Bool) -> Result {
        ParserPool.events.withParser { parser in
            do {
                let root = try parser.parse(event.body)
                return try withExtendedLifetime(parser) { () throws -> Result in
                    var work = MatchWork()
                    if !explains { return try pattern.matches(root, work: &work) ? .matches : .differs(nil) }
                    guard let found = try pattern.mismatch(in: root, work: &work) else { return .matches }
                    let value = found.found.map { JSONText($0).string.beginning(ofScalars: longest) }
                    return .differs(Mismatch(pointer: found.pointer, found: value))
                }
            } catch is RoutingTooCostly {
                return .tooCostly
            } catch {
                // A damaged body matches nothing.
                return .differs(nil)
            }
        }
    }
}
