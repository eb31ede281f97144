import SignalboxJSON
import SignalboxNotification

/// Errors and warnings found while reading a config. Messages and positions are built only for those that are listed.
extension ConfigReader {
    /// After this many errors and warnings the rest is only counted.
    static let mostFindings = 100
    /// Longest message, in characters; names in a config may be long.
    private static let longestMessage = 1_000

    /// A value or a key in one of the files.
    struct Place {
        let file: Int
        let pointer: String
        /// True for the value's key.
        var isKey = false
    }

    struct Finding {
        let severity: ConfigMistake.Severity
        let place: Place
        let message: String
        let notes: [(Place, String)]
        /// Whether the value may be a pasted secret.
        var mayBeSecret = false
    }

    /// Another location that an error is about, with its own message.
    struct Related {
        let value: JSONValue
        var isKey = false
        let message: String
    }

    mutating func note(_ value: JSONValue, _ message: @autoclosure () -> String, also related: [Related] = []) {
        add(.error, value, message, related)
    }

    /// Records an error on a value that may be a secret and must not be shown.
    mutating func note(secret value: JSONValue, _ message: @autoclosure () -> String) {
        add(.error, value, message, [], mayBeSecret: true)
    }

    /// Records an error on a member's key.
    mutating func note(
        keyOf member: JSONValue, _ message: @autoclosure () -> String, also related: [Related] = []
    ) {
        add(.error, member, isKey: true, message, related)
    }

    /// Records errors in the main config file.
    mutating func note(_ findings: [EntryFinding]) {
        for finding in findings {
            errorCount += 1
            guard self.findings.count < Self.mostFindings else { continue }
            let place = Place(file: 0, pointer: finding.pointer)
            self.findings.append(
                Finding(severity: .error, place: place, message: Self.shortened(finding.message), notes: []))
        }
    }

    /// Records an unusual but harmless value.
    mutating func warn(
        _ value: JSONValue, isKey: Bool = false, _ message: @autoclosure () -> String, also related: [Related] = []
    ) {
        add(.warning, value, isKey: isKey, message, related)
    }

    private mutating func add(
        _ severity: ConfigMistake.Severity, _ value: JSONValue, isKey: Bool = false, _ message: () -> String,
        _ related: [Related], mayBeSecret: Bool = false
    ) {
        if severity == .error { errorCount += 1 }
        guard findings.count < Self.mostFindings else { return }
        findings.append(
            Finding(
                severity: severity, place: place(of: value, isKey: isKey), message: Self.shortened(message()),
                notes: related.map { (place(of: $0.value, isKey: $0.isKey), $0.message) }, mayBeSecret: mayBeSecret))
    }

    private static func shortened(_ message: String) -> String {
        guard message.utf8.count > longestMessage else { return message }
        return message.prefix(longestMessage) + "…"
    }

    private func place(of value: JSONValue, isKey: Bool) -> Place {
        Place(file: roots.firstIndex { $0.contains(value) } ?? 0, pointer: parser.pointer(to: value), isKey: isKey)
    }
}

// MARK: Suggestions

extension ConfigReader {
    /// Valid words that a message lists.
    private static let mostListed = 50

    /// The nearest valid word, or the valid words when none is near.
    static func suggestion(for word: String, among known: [String]) -> String {
        if let near = Spelling.nearest(to: word, among: known) { return "; did you mean \"\(near)\"?" }
        let names = known.filter { $0 != "$schema" }
        let rest = names.count > mostListed ? " and \(names.count - mostListed) more" : ""
        return "; known here: " + names.prefix(mostListed).joined(separator: ", ") + rest
    }
}
