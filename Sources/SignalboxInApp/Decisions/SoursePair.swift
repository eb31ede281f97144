/// Recognises companion messages: the same news, smart to devices with Sourse's SDK and plain to the others.
package enum SoursePair {
    /// Topics that mark devices with the SDK; the second name is the older one.
    package static let markers = ["sourse_sdk_integrated", "isdk_sdk_integrated"]

    /// The pair of a message with this topic condition: `… && 'sourse_sdk_integrated' in topics` is smart,
    /// `… && !('sourse_sdk_integrated' in topics)` plain. Companions have equal keys, which depend on the texts and on
    /// the condition without the marker's clause. Nil for a condition without a marker.
    package static func pair(condition: String, title: String, body: String) -> Message.Pair? {
        let clauses = clauses(of: condition)
        guard let form = clauses.lazy.compactMap(form(of:)).first else { return nil }
        let rest = clauses.filter { self.form(of: $0)?.marker != form.marker }
        var digest = Digest()
        for clause in rest.sorted(by: { $0.lexicographicallyPrecedes($1) }) { digest.add(clause) }
        digest.add(title)
        digest.add(body)
        return Message.Pair(key: String(digest.value, radix: 16), role: form.role, marker: form.marker)
    }

    /// A clause that marks a message, as ``clauses(of:)`` returns it.
    private struct Form {
        let clause: [UInt8]
        let role: Message.Pair.Role
        let marker: String
    }

    private static let forms = markers.flatMap { marker in
        [
            Form(clause: Array("'\(marker)'intopics".utf8), role: .smart, marker: marker),
            Form(clause: Array("!('\(marker)'intopics)".utf8), role: .plain, marker: marker),
        ]
    }

    private static func form(of clause: [UInt8]) -> Form? { forms.first { $0.clause == clause } }

    /// The parts between `&&`, without white space and with single quotes.
    private static func clauses(of condition: String) -> [[UInt8]] {
        var clauses: [[UInt8]] = []
        var clause: [UInt8] = []
        for byte in condition.utf8 {
            switch byte {
            case UInt8(ascii: " "), 0x09...0x0d: continue
            case UInt8(ascii: "\""): clause.append(UInt8(ascii: "'"))
            case UInt8(ascii: "&") where clause.last == byte:
                clause.removeLast()
                if !clause.isEmpty { clauses.append(clause) }
                clause.removeAll()
            default: clause.append(byte)
            }
        }
        return clause.isEmpty ? clauses : clauses + [clause]
    }
}
