import SignalboxInApp

/// The input of `signalbox inapp simulate`: messages, triggers and outcomes in the order of their times. The reader, in
/// `Timeline+Reading.swift`, has validated every line, so a simulation cannot fail.
package struct Timeline: Sendable {
    /// Bounds of one timeline. The reader rejects a larger one.
    package enum Bounds {
        /// 16 MiB, because all lines are in memory.
        package static let bytes = 16 << 20
        /// More lines would take minutes.
        package static let lines = 20_000
        /// The most mistakes that the reader lists.
        package static let faults = 20
    }

    /// A line with its effect.
    struct Line: Sendable {
        /// From 1; empty lines count.
        var number: Int
        var at: Instant
        /// A name for the offers of this line, for later lines.
        var name: String?
        var action: Action
    }

    /// The request or the change that a line makes.
    enum Action: Sendable {
        case message(Definition, InAppRegistration.Address?)
        /// A body that equals the registered one.
        case unchanged(SignalboxInApp.MessageID)
        case withdraw(SignalboxInApp.MessageID)
        case trigger(TriggerRequest)
        /// The report names no offer yet.
        case outcome(ReportForm, OfferReference)
        case slots(SlotRequest)
        case policy(Policy)
        /// Lets time pass.
        case none
    }

    /// An offer of an earlier line.
    enum OfferReference: Sendable, Hashable {
        /// The offer of the latest decision that gave one.
        case last
        /// The offer of a named line; `slot`: the name of the slot on a page.
        case named(String, slot: String?)

        var text: String {
            switch self {
            case .last: "last"
            case .named(let name, let slot): slot.map { name + "/" + $0 } ?? name
            }
        }
    }

    /// In the order of their times; equal times keep the order of the file.
    let lines: [Line]
    /// Applies before the first line.
    let policy: Policy
}

/// A mistake in a line of a timeline. It quotes no values except names of members and of earlier lines.
package struct TimelineFault: Error, Sendable, Hashable {
    /// From 1; 0 for the timeline as a whole.
    package let line: Int
    /// JSON Pointer into the line.
    package let pointer: String
    /// The mistake and the remedy.
    package let detail: String

    /// `stories.ndjson:3: /trigger/event: …`, on one line. `name`: the name of the file.
    package func text(in name: String) -> String {
        let place = name + (line == 0 ? "" : ":\(line)")
        return EventLine.printable("\(place): " + (pointer.isEmpty ? "" : pointer + ": ") + detail)
    }
}

/// The mistakes of a timeline, at most ``Timeline/Bounds/faults``. At least one.
package struct InvalidTimeline: Error, Sendable, Hashable {
    package let faults: [TimelineFault]
    /// Mistakes that are not listed.
    package let more: Int
}
