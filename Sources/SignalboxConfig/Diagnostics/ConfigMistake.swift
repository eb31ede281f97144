package import SignalboxJSON

/// A file of a config, as it was read.
package struct ConfigText: Sendable, Equatable {
    /// As mistakes name it.
    package let name: String
    package let bytes: [UInt8]

    package init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }
}

/// One thing that is wrong in a config, with its place.
package struct ConfigMistake: Sendable, Equatable {
    /// Whether the config can be used all the same.
    package let severity: Severity
    /// Which of the files that were read it is in, counted from 0.
    package let file: Int
    /// JSON Pointer of what is wrong; empty for the file as a whole.
    package let pointer: String
    /// The bytes that are wrong, where known.
    package let place: Range<Int>?
    /// Line and column of them.
    package let position: TextPosition?
    /// What is wrong and, behind a semicolon, what to do: one sentence without a full stop.
    package let message: String
    /// Whether ``message`` repeats what stands in the file where anything may stand, a secret without its quotes too.
    package var repeatsText = false
    /// Whether what stands at ``place`` may be a secret that was pasted there.
    package var mayBeSecret = false
    /// Other places that have to do with it.
    package var notes: [Note] = []

    package enum Severity: String, Sendable {
        case error, warning
    }

    /// Another place, and what is there.
    package struct Note: Sendable, Equatable {
        package let file: Int
        package let place: Range<Int>
        package let message: String
    }

    /// `12:5: /destinations/crm/timeout: …`, for a file's name and a colon to be put before it.
    package var description: String {
        let place = position.map { "\($0.line):\($0.column): " } ?? ""
        return place + (pointer.isEmpty ? "" : pointer + ": ") + message
    }

    package init(
        _ severity: Severity = .error, file: Int, pointer: String, place: Range<Int>?, in text: [UInt8],
        message: String
    ) {
        self.severity = severity
        self.file = file
        self.pointer = pointer
        self.place = place
        position = place.map { TextPosition(offset: $0.lowerBound, in: text) }
        self.message = message
    }
}

/// A config that cannot be used, with all that is wrong in it: at least one mistake.
package struct InvalidConfig: Error, Sendable {
    package let mistakes: [ConfigMistake]

    package init(mistakes: [ConfigMistake]) { self.mistakes = mistakes }
}
