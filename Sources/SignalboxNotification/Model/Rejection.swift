/// A position in an input.
package struct PayloadPosition: Sendable, Equatable {
    /// From 1.
    package var line: Int
    /// In bytes, from 0.
    package var offset: Int

    /// Without arguments: the beginning of the input.
    package init(line: Int = 1, offset: Int = 0) { (self.line, self.offset) = (line, offset) }
}

/// Why the gateway rejects a payload.
package struct Rejection: Error, Sendable, Equatable {
    /// Stable, for programs.
    package let code: Code
    /// One sentence for people: the mistake, its position, and the remedy.
    package let message: String
    /// Position of the payload in the input.
    package let place: PayloadPosition

    /// The reasons. Raw values are codes of the API's errors.
    package enum Code: String, Sendable, CaseIterable {
        /// The payload is empty, or white space only.
        case empty = "payload-empty"
        /// Any other fault of the text; the message names it and its position.
        case notJSON = "payload-not-json"
        /// The text is not UTF-8.
        case invalidUTF8 = "payload-not-utf8"
        /// A number is malformed or exceeds 64 bits.
        case invalidNumber = "payload-number-invalid"
        /// Nested deeper than the limit.
        case tooDeep = "payload-too-deep"
        /// Longer than the limit.
        case tooLarge = "payload-too-large"
        /// The text ends before it is complete.
        case truncated = "payload-truncated"
        /// The text is JSON, but not an object.
        case notAnObject = "payload-not-an-object"
        /// Matching the event against the routes exceeds the work limit.
        case tooCostly = "payload-too-costly"
        /// A recording of another tool lacks the payload, time or token where the options place it. Not used over
        /// HTTP.
        case envelope = "envelope-malformed"
        /// A failure rule answers the recorded payload. Not used over HTTP.
        case failureRule = "failure-rule"
    }

    /// `place`: the payload's first byte in the input.
    package init(_ code: Code, at place: PayloadPosition, _ message: String) {
        (self.code, self.place, self.message) = (code, place, message)
    }
}
