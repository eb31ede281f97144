import SignalboxJSON
import SignalboxNotification

/// The steps from a text of a config to a value in it.
struct ConfigPath: Sendable, Equatable {
    /// JSON Pointer of the value that was read as a text of its own; empty for a whole file.
    let start: String
    /// The position of each step, from 0: of a member in its object, or of an element in its array.
    let positions: [Int]
}

/// The location of a value or a key in a config's files.
package struct ConfigLocation: Sendable, Equatable {
    /// Index of the file, counted from 0.
    package var file = 0
    /// JSON Pointer of the value.
    package var pointer: String
    /// True for the value's key instead of the value.
    package var isKey = false
    /// The steps that lead to a value that was read, even if keys repeat. Nil for a location that was made from its
    /// pointer, which leads to the last value.
    var path: ConfigPath?

    /// An empty pointer stands for the whole file.
    package init(file: Int = 0, pointer: String, isKey: Bool = false) {
        (self.file, self.pointer, self.isKey) = (file, pointer, isKey)
    }

    /// The location of a member or an element. `token`: its key or index, unescaped.
    package func appending(_ token: String, isKey: Bool = false) -> ConfigLocation {
        ConfigLocation(file: file, pointer: pointer + "/" + JSONPointer.escape(token), isKey: isKey)
    }
}

/// Collects the errors and warnings of a config. Positions in the text are computed only for those that are listed.
/// Never throws while a config is read; ``throwErrors(in:naming:)`` ends the reading.
package struct ConfigDiagnostics: Sendable {
    /// The most errors that are listed, and the most warnings; further errors are only counted. Warnings have their own
    /// limit, so they hide no error.
    package static let most = 100
    /// Unicode scalars of the longest message; names in a config may be long.
    private static let longestMessage = 1_000

    /// Another location that a finding is about, with its own message.
    package typealias Related = (location: ConfigLocation, message: String)

    /// A mistake whose position in the text is not known yet.
    private struct Finding {
        let severity: ConfigMistake.Severity
        /// A file and a pointer into it.
        let location: ConfigLocation
        /// The problem and its remedy, as ``ConfigMistake`` has them.
        let message: String
        /// Shown as notes of the mistake, if their text has the location.
        let related: [Related]
        /// True if the text at the location must not be shown.
        let mayBeSecret: Bool
    }

    /// At most ``most`` errors and as many warnings, in the order of reading.
    private var findings: [Finding] = []
    /// All errors, including those that are not listed.
    package private(set) var errorCount = 0

    /// The number of ``findings`` of each severity.
    private var listed: [ConfigMistake.Severity: Int] = [:]

    /// True when further errors are only counted.
    package var isFull: Bool { isFull(of: .error) }

    /// Errors and warnings have separate limits.
    private func isFull(of severity: ConfigMistake.Severity) -> Bool { listed[severity, default: 0] >= Self.most }

    /// Without findings.
    package init() {}

    /// Records an error. `mayBeSecret`: the value may be a pasted secret and must not be shown. Evaluates `message`
    /// only if the error is listed.
    package mutating func error(
        at location: ConfigLocation, _ message: @autoclosure () -> String, also related: [Related] = [],
        mayBeSecret: Bool = false
    ) {
        errorCount += 1
        add(.error, location, message, related, mayBeSecret: mayBeSecret)
    }

    /// Records a warning. Warnings do not make the config invalid.
    package mutating func warning(
        at location: ConfigLocation, _ message: @autoclosure () -> String, also related: [Related] = []
    ) { add(.warning, location, message, related, mayBeSecret: false) }

    /// Ignores findings beyond ``most`` of their severity, and cuts long messages.
    private mutating func add(
        _ severity: ConfigMistake.Severity, _ location: ConfigLocation, _ message: () -> String,
        _ related: [Related], mayBeSecret: Bool
    ) {
        guard !isFull(of: severity) else { return }
        var message = message()
        if message.unicodeScalars.count > Self.longestMessage {
            message = message.beginning(ofScalars: Self.longestMessage) + "…"
        }
        list(
            Finding(
                severity: severity, location: location, message: message, related: related, mayBeSecret: mayBeSecret))
    }

    /// The message must have been cut already.
    private mutating func list(_ finding: Finding) {
        guard !isFull(of: finding.severity) else { return }
        findings.append(finding)
        listed[finding.severity, default: 0] += 1
    }

    /// Appends the findings of a text that is a part of the config. `other`: its locations are already those of the
    /// whole config.
    package mutating func append(_ other: ConfigDiagnostics) {
        errorCount += other.errorCount
        for finding in other.findings { list(finding) }
    }

    /// Throws all findings if one of them is an error. The warnings are thrown with the errors. `naming`: see
    /// ``InvalidConfig/namedFiles``.
    package func throwErrors(in files: [ConfigText], naming namedFiles: [String] = []) throws(InvalidConfig) {
        if errorCount > 0 { throw InvalidConfig(mistakes: mistakes(in: files), namedFiles: namedFiles) }
    }

    /// All findings with their positions, in the order of the files and of the positions. `files`: all files of the
    /// config, because findings refer to them by index. Parses each file once for the findings with a `path`, and once
    /// for each finding that has only a pointer. Findings at one position keep the order of reading. Traps for an index
    /// without a file.
    package func mistakes(in files: [ConfigText]) -> [ConfigMistake] {
        var lines: [Int: TextLines] = [:]
        for finding in findings where lines[finding.location.file] == nil {
            lines[finding.location.file] = TextLines(files[finding.location.file].bytes)
        }
        let places = ConfigPlaces(of: findings.flatMap { [$0.location] + $0.related.map(\.location) }, in: files)
        let mistakes = findings.map { finding in
            let place = places.range(of: finding.location)
            let position = place.flatMap { lines[finding.location.file]?.position(of: $0.lowerBound) }
            var mistake = ConfigMistake(
                finding.severity, file: finding.location.file, pointer: finding.location.pointer, place: place,
                at: position, message: finding.message)
            mistake.mayBeSecret = finding.mayBeSecret
            mistake.notes = finding.related.compactMap { location, message in
                places.range(of: location).map { ConfigMistake.Note(file: location.file, place: $0, message: message) }
            }
            return mistake
        }
        let keys = mistakes.enumerated().map { ($1.file, $1.place?.lowerBound ?? 0, $0) }
        return mistakes.indices.sorted { keys[$0] < keys[$1] }.map { mistakes[$0] }
    }
}
