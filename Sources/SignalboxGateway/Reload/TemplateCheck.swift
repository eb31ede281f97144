import SignalboxRouting

/// Finds the names of a template that no event has. A name is looked up from the innermost section outwards, as
/// Mustache does.
struct TemplateCheck {
    /// The fields of the open sections, the event first; nil for a section whose fields are not known.
    private var sections: [EventField?]

    /// `event`: the fields of the events that the template receives.
    init(of event: EventField) { sections = [event] }

    /// A name that no event has.
    struct Finding: Equatable {
        /// The first part of the name that is missing.
        let key: String
        /// The offset of its tag in the template.
        let offset: Int
        /// The names that exist instead.
        let known: [String]
    }

    /// The names that are missing, in their order.
    mutating func findings(in tags: [TemplateTag]) -> [Finding] {
        var findings: [Finding] = []
        for tag in tags {
            if tag.kind == .end {
                if sections.count > 1 { sections.removeLast() }
                continue
            }
            let found: Result<EventField?, Missing> = tag.isFunction ? .success(nil) : self.field(named: tag.name)
            let field: EventField?
            switch found {
            case .success(let known): field = known
            case .failure(let missing):
                findings.append(Finding(key: missing.key, offset: tag.offset, known: missing.known))
                field = nil
            }
            switch tag.kind {
            case .section: sections.append(field)
            case .inverted: sections.append(sections[sections.count - 1])
            case .value, .end: break
            }
        }
        return findings
    }

    /// A part of a name that no event has.
    private struct Missing: Error {
        let key: String
        let known: [String]
    }

    /// The field of a name; nil if it is not known whether there is one.
    private func field(named name: String) -> Result<EventField?, Missing> {
        if name == "." { return .success(sections[sections.count - 1]) }
        let keys = name.split(separator: ".").map(String.init)
        guard let first = keys.first else { return .success(nil) }
        var found: EventField?
        for section in sections.reversed() {
            guard let section, !section.isFree else { return .success(nil) }
            found = section.member(first)
            if found != nil { break }
        }
        guard var field = found else {
            let known = sections.flatMap { $0.map { Array($0.members.keys) } ?? [] }
            return .failure(Missing(key: first, known: Set(known).sorted()))
        }
        for key in keys.dropFirst() {
            guard let next = field.member(key) else {
                return .failure(Missing(key: key, known: field.members.keys.sorted()))
            }
            field = next
        }
        return .success(field)
    }
}
