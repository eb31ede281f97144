/// The first thing that keeps a text from being JSON (RFC 8259), for people who wrote it by hand.
package struct JSONFault: Sendable, Equatable {
    package let kind: Kind
    /// What is wrong, in bytes; empty where something is missing.
    package let range: Range<Int>
    /// Where the bracket stands that is not closed, or wrongly.
    package var opening: Int?

    package enum Kind: Sendable, Equatable {
        case comment
        /// Nothing but a closing bracket comes behind this comma.
        case trailingComma
        case additionalComma
        case missingComma
        case missingColon
        /// Where a value should be.
        case missingValue
        /// Where a member's name should be.
        case missingKey
        case singleQuotes
        /// Quotation marks of a word processor.
        case typographicQuotes
        /// A name without quotes.
        case bareKey(String)
        /// A word that is none of JSON's.
        case bareWord(String)
        case number(String)
        case unclosedString
        /// A control character within a string.
        case control
        case escape
        /// A bracket that closes one of the other kind, or none.
        case wrongClosing
        /// The text ends with an open bracket.
        case unclosed
        /// Behind the end of the one value.
        case furtherText
        case unexpected(String)
    }

    /// Nil for a text in which this finds nothing: JSON, or one that breaks another rule, such as UTF-8's.
    package init?(in text: [UInt8]) {
        var finder = JSONFaultFinder(text)
        guard let fault = finder.find() else { return nil }
        self = fault
    }

    init(_ kind: Kind, _ range: Range<Int>, opening: Int? = nil) {
        self.kind = kind
        self.range = range
        self.opening = opening
    }
}
