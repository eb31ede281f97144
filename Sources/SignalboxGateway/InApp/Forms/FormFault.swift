import Foundation
package import SignalboxInApp
import SignalboxJSON

/// Why a form of in-app messages is rejected: the first mistake in it.
/// Faults are for the sender of the form; the gateway does not log them.
package struct FormFault: Error, Sendable, Hashable {
    /// Stable, for programs: a constant of ``Code``, or the raw value of an ``InputFault/Code``.
    package let code: String
    /// JSON Pointer (RFC 6901) to the mistake; for a missing member, the pointer that it would have. Empty for the
    /// whole form.
    package let pointer: String
    /// One sentence for people: the mistake and the remedy.
    package let detail: String

    /// The codes of mistakes that the forms find. Bounds of the engine add the codes of ``InputFault/Code``.
    package enum Code {
        /// The bytes are not JSON, or nested too deep.
        package static let notJSON = "not-json"
        /// The form, or its content or action, has too many bytes.
        package static let tooLarge = "too-large"
        /// A required member is absent.
        package static let missing = "missing"
        /// An object has a member that the form does not know.
        package static let unknownMember = "unknown-member"
        /// An object has a member twice.
        package static let repeatedMember = "repeated-member"
        /// A value has another JSON type than the form requires.
        package static let wrongType = "wrong-type"
        /// A value of the right type is not one of the permitted ones.
        package static let invalidValue = "invalid-value"
    }

    /// `detail` must not repeat values of the form, which may be private or long.
    init(_ code: String, _ pointer: String, _ detail: String) {
        (self.code, self.pointer, self.detail) = (code, pointer, detail)
    }

    init(_ code: InputFault.Code, _ pointer: String, _ detail: String) { self.init(code.rawValue, pointer, detail) }

    /// A mistake that the engine found. `prefix` leads to the engine's value inside the form.
    package init(_ fault: InputFault, at prefix: String = "") {
        let pointer = prefix + fault.pointer
        self.init(fault.code, pointer, "Invalid value at \(pointer.isEmpty ? "the root" : pointer): \(fault.detail).")
    }

    /// Throws for the id of a new message that is not in Unicode normalization form C. Stores compare ids by their
    /// bytes, the engine by their characters: in this form, equal characters are equal bytes. `name`: of the id.
    static func check(messageID id: SignalboxInApp.MessageID, at pointer: String, _ name: String) throws(FormFault) {
        guard !id.precomposedStringWithCanonicalMapping.hasBytes(of: id) else { return }
        throw FormFault(
            Code.invalidValue, pointer,
            "\(name) must be in Unicode normalization form C: write an accented letter as one character.")
    }
}

/// Sizes of forms, in bytes of UTF-8. The engine's bounds of lists and names are in ``Bounds``.
/// Larger forms are rejected before they are parsed, so they cost no more than their bytes. The HTTP endpoints have
/// smaller limits of their own.
package enum FormBounds {
    /// Size of a message, white space included.
    package static let message = 512 * 1024
    /// Size of a message's content, without white space.
    package static let content = 256 * 1024
    /// Size of a message's action, without white space.
    package static let action = 64 * 1024
    /// Size of a trigger, a page of slots, or a hypothetical trigger.
    package static let request = 1024 * 1024
    /// Size of a report.
    package static let report = 16 * 1024
    /// Size of the name or address of a file. Larger than for other names, because addresses are long.
    package static let asset = 1024
    /// The most counters of a hypothetical trigger.
    package static let counters = 100
}

/// Reads the JSON of a form. Values are valid during the call of `read` only.
/// The document is parsed in one pass and read in place.
enum FormDocument {
    /// Shared by all forms; a parser keeps its memory for the next one.
    private static let parsers = ParserPool.forPayloads()

    /// Throws if the bytes exceed `limit` or are not JSON, and passes on the faults of `read`.
    static func read<Form>(
        _ bytes: [UInt8], upTo limit: Int, _ read: (JSONValue) throws(FormFault) -> Form
    ) throws(FormFault) -> Form {
        guard bytes.count <= limit else {
            throw FormFault(FormFault.Code.tooLarge, "", "The form has more than \(limit) bytes: send a smaller one.")
        }
        return try parsers.withParser { (parser) throws(FormFault) in
            let root = try parser.parse(bytes) { error in
                let place = error.offset.map { " near byte \($0)" } ?? ""
                return FormFault(
                    FormFault.Code.notJSON, "", "The form is not valid JSON (\(error.reason.words)\(place)).")
            }
            return try withExtendedLifetime(parser) { () throws(FormFault) in try read(root) }
        }
    }
}

/// Reasons of the parser in words for people.
extension JSONError.Reason {
    /// Without the text itself.
    fileprivate var words: String {
        switch self {
        case .empty: "the text is empty"
        case .syntax: "syntax error"
        case .invalidUTF8: "invalid UTF-8"
        case .invalidString: "a control character or an invalid escape in a string"
        case .invalidNumber: "a number that is malformed or beyond 64 bits"
        case .tooDeep: "nested too deep"
        case .tooLarge: "too large"
        case .unclosedString: "a string without a closing quote"
        case .incomplete: "the text ends too early"
        case .tooManyDocuments, .outOfMemory: "no memory to read it"
        }
    }
}
