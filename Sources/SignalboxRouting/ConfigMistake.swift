package import SignalboxJSON

/// One thing that is wrong in a config, with its place.
package struct ConfigMistake: Sendable, Equatable {
    /// JSON Pointer of what is wrong; empty for the file as a whole.
    package let pointer: String
    /// Line and column of it, where known.
    package let position: TextPosition?
    /// What is wrong and what to do, one sentence without a full stop.
    package let message: String

    /// `12:5: /destinations/crm/timeout: …`, for a file's name and a colon to be put before it.
    package var description: String {
        let place = position.map { "\($0.line):\($0.column): " } ?? ""
        return place + (pointer.isEmpty ? "" : pointer + ": ") + message
    }
}

/// A config that cannot be used, with all that is wrong in it: at least one mistake.
package struct InvalidConfig: Error, Sendable {
    package let mistakes: [ConfigMistake]
}
