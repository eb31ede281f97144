internal import CSimdjson

/// Why a text could not be read as JSON.
package struct JSONError: Error, Equatable, Sendable {
    package enum Reason: Sendable {
        case empty, syntax, invalidUTF8, invalidString, invalidNumber, tooDeep, tooLarge
        /// The text ends within a string.
        case unclosedString
        /// The text ends elsewhere before it is complete.
        case incomplete
        case tooManyDocuments, outOfMemory
    }

    package let reason: Reason
    /// Byte offset into the text at or near which it stops being JSON, when simdjson can tell.
    package let offset: Int?
}

/// Parses texts with simdjson and owns the buffers that the resulting ``JSONValue``s look into.
///
/// One parser serves one payload at a time: `reset()`, parse the payload, then any JSON texts found in its strings.
/// A class because it is the single owner of a C handle and of what is borrowed from it.
package final class JSONParser {
    /// What a parser accepts; beyond it the answer is an error, never unbounded work.
    package struct Limits: Sendable {
        /// Size of one text.
        package var bytes = 16 * 1024 * 1024
        /// Levels of nesting.
        package var depth = 256
        /// Texts between two resets: the payload and the JSON texts inside its strings.
        package var documents = 64

        package init() {}
    }

    private struct Document {
        let root: JSONValue
        let origin: JSONValue?
    }

    private let handle: OpaquePointer
    private let limits: Limits
    // Checking accesses costs more than they do; a parser has one user at a time and calls nobody meanwhile.
    @exclusivity(unchecked) private var documents: [Document] = []

    package init(limits: Limits = Limits()) {
        guard let handle = sb_json_parser_create(limits.bytes, limits.depth, limits.documents) else {
            preconditionFailure("No memory for a JSON parser.")
        }
        self.handle = handle
        self.limits = limits
    }

    deinit { sb_json_parser_destroy(handle) }

    /// The most bytes that a parser keeps after ``reset()``.
    package static let mostRetainedBytes = Int(SB_JSON_RETAINED_BYTES)

    /// Capacity of the parser's buffers, in bytes.
    package var retainedBytes: Int { sb_json_parser_retained_bytes(handle) }

    /// Forgets every document parsed so far; their values become invalid. Frees large buffers.
    package func reset() {
        documents.removeAll(keepingCapacity: true)
        sb_json_parser_reset(handle)
    }

    /// Parses one text, which is copied. A byte order mark at its start is passed over.
    package func parse(_ text: UnsafeBufferPointer<UInt8>) throws(JSONError) -> JSONValue {
        try parse(text, foundIn: nil)
    }

    /// As above, for bytes in an array.
    package func parse(_ text: [UInt8]) throws(JSONError) -> JSONValue {
        let result = text.withUnsafeBufferPointer { bytes -> Result<JSONValue, JSONError> in
            Result { () throws(JSONError) in try parse(bytes, foundIn: nil) }
        }
        return try result.get()
    }

    /// Parses the JSON text that a string of another document holds. JSON Pointers into it continue the string's own.
    /// A text that was parsed since the last reset is not parsed again.
    package func parseText(in string: JSONValue) throws(JSONError) -> JSONValue {
        if let root = opened(string) { return root }
        guard let text = string.utf8 else { throw JSONError(reason: .syntax, offset: nil) }
        return try parse(text, foundIn: string)
    }

    /// What ``parseText(in:)`` made of a string since the last reset; nil when nobody asked for it.
    package func opened(_ string: JSONValue) -> JSONValue? {
        documents.first { $0.origin?.isSamePlace(as: string) == true }?.root
    }

    private func parse(_ text: UnsafeBufferPointer<UInt8>, foundIn origin: JSONValue?) throws(JSONError) -> JSONValue {
        let skipped = text.hasPrefix("\u{FEFF}") ? 3 : 0
        let body = UnsafeBufferPointer(rebasing: text[skipped...])
        var tape = sb_json_tape()
        let status = sb_json_parse(handle, body.baseAddress, body.count, &tape)
        guard status == SB_JSON_OK, let words = tape.tape, let strings = tape.strings else {
            throw JSONError(status: status, text: body, skipped: skipped, depth: limits.depth)
        }
        let root = JSONValue(tape: words, strings: strings, index: 1)
        documents.append(Document(root: root, origin: origin))
        return root
    }

    // MARK: JSON Pointers

    /// The JSON Pointer (RFC 6901) of a value in the payload. For a value inside a JSON text, the pointer of the string
    /// that holds the text is continued. Found by walking the document: for warnings and evidence, not for every value.
    package func pointer(to value: JSONValue) -> String {
        guard let document = documents.first(where: { $0.root.tape == value.tape }) else {
            preconditionFailure("A value was used after its parser was reset.")
        }
        var pointer = document.origin.map { self.pointer(to: $0) } ?? ""
        var container = document.root
        while container.index < value.index {
            guard let step = container.step(towards: value) else { break }
            pointer = pointer.isEmpty ? step.token : pointer + step.token
            container = step.child
        }
        return pointer
    }
}

extension JSONValue {
    /// The part of a pointer that leads from a container to the member or element in which a value stands.
    fileprivate func step(towards target: JSONValue) -> (token: String, child: JSONValue)? {
        for (key, child) in members where child.next > target.index { return (JSONPointer.token(key), child) }
        for (position, child) in elements.enumerated() where child.next > target.index {
            return ("/" + String(position), child)
        }
        return nil
    }
}

extension JSONError {
    fileprivate init(status: sb_json_status, text: UnsafeBufferPointer<UInt8>, skipped: Int, depth: Int) {
        let reason = Reason(status)
        switch reason {
        case .invalidString, .unclosedString:
            if let control = Self.firstRawControl(text) {
                self.init(reason: .invalidString, offset: control + skipped)
                return
            }
            fallthrough
        case .syntax, .incomplete, .invalidNumber:
            let offset = sb_json_error_offset(text.baseAddress, text.count, depth)
            let endsEarly = offset == text.count && reason == .syntax
            self.init(reason: endsEarly ? .incomplete : reason, offset: offset < 0 ? nil : offset + skipped)
        case .invalidUTF8:
            self.init(reason: reason, offset: Self.firstInvalidUTF8(text).map { $0 + skipped })
        case .empty, .tooDeep, .tooLarge, .tooManyDocuments, .outOfMemory: self.init(reason: reason, offset: nil)
        }
    }

    /// Where a string holds a line end or another raw control character, which simdjson says without the place.
    private static func firstRawControl(_ text: UnsafeBufferPointer<UInt8>) -> Int? {
        var inString = false
        var escaped = false
        for (position, byte) in text.enumerated() {
            if inString, byte < 0x20 { return position }
            if byte == UInt8(ascii: "\""), !escaped { inString.toggle() }
            escaped = inString && byte == UInt8(ascii: "\\") && !escaped
        }
        return nil
    }

    private static func firstInvalidUTF8(_ text: UnsafeBufferPointer<UInt8>) -> Int? {
        do throws(UTF8.ValidationError) {
            _ = try UTF8Span(validating: Span(_unsafeElements: text))
            return nil
        } catch {
            return error.byteOffsets.lowerBound
        }
    }
}

extension JSONError.Reason {
    fileprivate init(_ status: sb_json_status) {
        self =
            switch status {
            case SB_JSON_EMPTY: .empty
            case SB_JSON_UTF8: .invalidUTF8
            case SB_JSON_STRING: .invalidString
            case SB_JSON_UNCLOSED_STRING: .unclosedString
            case SB_JSON_NUMBER: .invalidNumber
            case SB_JSON_DEPTH: .tooDeep
            case SB_JSON_SIZE: .tooLarge
            case SB_JSON_DOCUMENTS: .tooManyDocuments
            case SB_JSON_MEMORY: .outOfMemory
            default: .syntax
            }
    }
}
