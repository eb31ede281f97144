/// A position in an input.
package struct Place: Sendable, Equatable {
    /// From 1.
    package var line: Int
    /// Bytes, from 0.
    package var offset: Int

    package init(line: Int = 1, offset: Int = 0) {
        self.line = line
        self.offset = offset
    }
}

/// Why a payload was not taken.
package struct Rejection: Error, Sendable, Equatable {
    /// Stable, for programs.
    package let code: Code
    /// One sentence for a person: what, where, what to do.
    package let message: String
    package let place: Place

    package enum Code: String, Sendable, CaseIterable {
        case empty = "payload-empty"
        case notJSON = "payload-not-json"
        case invalidUTF8 = "payload-not-utf8"
        case invalidNumber = "payload-number-invalid"
        case tooDeep = "payload-too-deep"
        case tooLarge = "payload-too-large"
        case truncated = "payload-truncated"
        case notAnObject = "payload-not-an-object"
        /// Matching the event against the routes exceeds the work limit.
        case tooCostly = "payload-too-costly"
        /// What another tool recorded holds no payload, time or token where they should be; never said over HTTP.
        case envelope = "envelope-malformed"
    }

    package init(_ code: Code, at place: Place, _ message: String) {
        self.code = code
        self.place = place
        self.message = message
    }
}
