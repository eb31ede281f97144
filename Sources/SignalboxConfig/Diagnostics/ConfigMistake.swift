package import SignalboxJSON

/// The name and contents of one file of a config.
package struct ConfigText: Sendable, Equatable {
    /// The name in messages.
    package let name: String
    /// The contents, possibly not JSON or not UTF-8.
    package let bytes: [UInt8]

    /// `name`: usually the path.
    package init(name: String, bytes: [UInt8]) { (self.name, self.bytes) = (name, bytes) }
}

extension [ConfigText] {
    /// The index of the first file with a member at this JSON Pointer; nil if none has one. Parses each file up to it.
    package func index(declaring pointer: String) -> Int? {
        let key = [UInt8]("\"\(pointer.split(separator: "/").last ?? "")\"".utf8)
        return firstIndex { file in
            // Without the member, the position is that of a value around it.
            JSONPosition(of: pointer, in: file.bytes)?.key.map { file.bytes[$0].elementsEqual(key) } ?? false
        }
    }
}

/// An error or a warning about a config, with its position. ``ConfigReport`` turns it into text.
package struct ConfigMistake: Sendable, Equatable {
    /// Errors prevent the use of the config, warnings do not.
    package let severity: Severity
    /// Index of the file, counted from 0.
    package let file: Int
    /// JSON Pointer of the value; empty for the file as a whole.
    package let pointer: String
    /// The bytes of the value, if known.
    package let place: Range<Int>?
    /// Line and column of ``place``.
    package let position: TextPosition?
    /// The problem and, after a semicolon, the remedy: one sentence without a full stop. Asterisks replace what looks
    /// like a secret, also in ``pointer``.
    package let message: String
    /// Whether ``message`` repeats text of the file, which may be a secret without its quotes.
    package var repeatsText = false
    /// Whether the text at ``place`` may be a pasted secret.
    package var mayBeSecret = false
    /// Other places that it is about.
    package var notes: [Note] = []

    /// Raw values are the words of reports.
    package enum Severity: String, Sendable {
        /// ``ConfigReport`` prints them between the position and the message.
        case error, warning
    }

    /// Another place that the mistake is about.
    package struct Note: Sendable, Equatable {
        /// Index of the file, counted from 0.
        package let file: Int
        /// The bytes to show.
        package let place: Range<Int>
        /// A clause without a full stop.
        package let message: String
    }

    /// `12:5: /destinations/crm/timeout: …`, without the file's name. For tests and messages that name the file
    /// themselves.
    package var description: String {
        let place = position.map { "\($0.line):\($0.column): " } ?? ""
        return place + (pointer.isEmpty ? "" : pointer + ": ") + message
    }

    /// The message without its remedy.
    package var problem: String { ConfigReport.parts(of: message).problem }
    /// The remedy; nil for a message without a remedy.
    package var hint: String? { ConfigReport.parts(of: message).hint }

    /// Computes ``position`` from `place`, for which it reads the text up to there: for a single mistake of a file.
    /// `text`: the contents of the file.
    package init(
        _ severity: Severity = .error, file: Int, pointer: String, place: Range<Int>?, in text: [UInt8],
        message: String
    ) {
        let position = place.map { TextPosition(offset: $0.lowerBound, in: text) }
        self.init(severity, file: file, pointer: pointer, place: place, at: position, message: message)
    }

    /// `position`: that of `place`, which is known.
    init(
        _ severity: Severity, file: Int, pointer: String, place: Range<Int>?, at position: TextPosition?,
        message: String
    ) {
        self.severity = severity
        self.file = file
        self.pointer = SecretScan.hidingSecrets(in: pointer)
        self.place = place
        self.position = position
        self.message = SecretScan.hidingSecrets(in: message)
    }
}

/// A config with errors: at least one. A gateway that is running keeps its former config.
package struct InvalidConfig: Error, Sendable {
    /// In the order of the files and positions. Has the warnings too.
    package let mistakes: [ConfigMistake]

    /// Paths of further files that the config names, such as templates. A change of one may make the config valid.
    package let namedFiles: [String]

    /// `mistakes`: at least one error. `namedFiles`: empty for a config that is not JSON.
    package init(mistakes: [ConfigMistake], namedFiles: [String] = []) {
        (self.mistakes, self.namedFiles) = (mistakes, namedFiles)
    }

    /// The first mistake that is not a warning.
    package var firstError: ConfigMistake {
        guard let mistake = mistakes.first(where: { $0.severity == .error }) else {
            preconditionFailure("An invalid config has an error.")
        }
        return mistake
    }
}
