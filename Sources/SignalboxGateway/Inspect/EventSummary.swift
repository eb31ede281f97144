import SignalboxJSON
import SignalboxNotification
package import SignalboxRouting
package import SignalboxStore

/// The members of a stored event that lists show.
package struct EventSummary: Sendable, Equatable {
    /// CloudEvents' `type`.
    package let type: String
    /// The parts of the subject around its first slash; nil without one.
    package let vendor, kind: String?
    /// The title of the notification, else its text, else the title of the tapped button. A longer one than
    /// ``longestTitle`` scalars is cut and ends with an ellipsis; nil for none.
    package let title: String?
    /// The codes of its warnings, each once, in their order; at most ``mostWarnings``.
    package let warnings: [String]

    /// Unicode scalars of a title. Characters have no bound: any number of marks can follow a letter.
    package static let longestTitle = 300
    /// The most codes of warnings.
    package static let mostWarnings = 50

    /// Reads a stored event.
    package init(_ record: EventRecord) {
        let slash = record.subject.firstIndex(of: "/")
        vendor = slash.map { String(record.subject[..<$0]) }
        kind = slash.map { String(record.subject[record.subject.index(after: $0)...]) }
        (type, title, warnings) = ParserPool.events.withParser { parser in
            parser.reset()
            guard let event = EventDocument(record.body, with: parser) else { return ("", nil, []) }
            let title =
                event.text("data", "content", "title") ?? event.text("data", "content", "body")
                ?? event.text("data", "title")
            var codes: [String] = []
            for code in event.elements(["data", "warnings"], "code").compactMap(\.[0]) where !codes.contains(code) {
                codes.append(code)
                if codes.count == Self.mostWarnings { break }
            }
            return (event.text("type") ?? "", title.map { Self.cut($0) }, codes)
        }
    }

    /// Marks a cut by an ellipsis.
    private static func cut(_ title: String) -> String {
        guard
            let end = title.unicodeScalars.index(
                title.startIndex, offsetBy: longestTitle, limitedBy: title.endIndex), end < title.endIndex
        else { return title }
        return String(title.unicodeScalars[..<end]) + "…"
    }
}

/// Conditions over the bodies of stored events, for ``EventFilter/matches``.
package struct EventTest: Sendable {
    /// CloudEvents' `type`; nil for all.
    package var type: String?
    /// The code of a warning that the event has; nil for all.
    package var warning: String?
    /// Matches the whole event; nil for all.
    package var pattern: Pattern?

    /// Every event passes.
    package init() {}

    /// Nil if every event passes, so that no body need be read.
    package var test: (@Sendable ([UInt8]) -> Bool)? {
        guard type != nil || warning != nil || pattern != nil else { return nil }
        return { passes($0) }
    }

    /// An event whose match would take more work than the routing of one event does not pass.
    private func passes(_ body: [UInt8]) -> Bool {
        ParserPool.events.withParser { parser in
            parser.reset()
            guard let event = EventDocument(body, with: parser) else { return false }
            if let type, event.text("type") != type { return false }
            if let warning, !event.elements(["data", "warnings"], "code").contains(where: { $0[0] == warning }) {
                return false
            }
            guard let pattern else { return true }
            return event.withRoot { root, _ in
                do throws(RoutingTooCostly) { return try pattern.matches(root) } catch { return false }
            }
        }
    }
}
