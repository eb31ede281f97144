internal import CSimdjson

/// Why a text is not JSON, or could not be read. ``JSONFault`` explains the same text to its author.
package struct JSONError: Error, Equatable, Sendable {
    /// The kinds of faults that callers distinguish.
    package enum Reason: Sendable {
        /// White space only.
        case empty
        case syntax, invalidUTF8
        /// A raw control character or an invalid escape.
        case invalidString
        /// Malformed, or beyond 64 bits.
        case invalidNumber
        /// Beyond ``JSONParser/Limits``.
        case tooDeep, tooLarge
        /// The text ends within a string.
        case unclosedString
        /// The text ends elsewhere before it is complete.
        case incomplete
        /// More texts since the last reset than ``JSONParser/Limits`` allow.
        case tooManyDocuments
        case outOfMemory
    }

    /// The kind of fault.
    package let reason: Reason
    /// Byte offset at or near which the text stops being JSON; nil when it is unknown.
    package let offset: Int?
}

/// Parses texts with simdjson and owns the buffers that the resulting ``JSONValue``s are views of.
///
/// One parser serves one payload at a time: `reset()`, parse the payload, then any JSON texts found in its strings.
/// One task uses it at a time. A class because it owns a C handle.
package final class JSONParser {
    /// Bounds of the texts that a parser accepts; a text beyond them is an error.
    package struct Limits: Sendable {
        /// Size of one text.
        package var bytes = 16 * 1024 * 1024
        /// Levels of objects and arrays, empty ones included.
        package var depth = 256
        /// The levels as simdjson counts them: a value in the innermost container is one more, and an empty container
        /// is such a value.
        fileprivate var levels: Int { depth + 1 }
        /// Texts between two resets: the payload and the JSON texts inside its strings.
        package var documents = 64

        /// The default limits: 16 MiB, 256 levels, 64 texts. Payloads have lower limits, 4 MiB and 128 levels.
        package init() {}
    }

    /// A parsed text, and the string that contained it; nil for a payload.
    private struct Document {
        let root: JSONValue
        let origin: JSONValue?
    }

    /// Accepts one level of containers fewer than ``Limits/depth``, so an empty container is within the limit too.
    private let handle: OpaquePointer
    private let limits: Limits
    // Exclusivity checks cost more than the accesses; a parser has one user at a time and makes no calls meanwhile.
    /// Reads the texts that are too deep for ``handle``, which are rare. Nil if there was none since the last reset.
    @exclusivity(unchecked) private var deepHandle: OpaquePointer?
    @exclusivity(unchecked) private var documents: [Document] = []

    /// A parser with its own buffers, which accepts texts within these bounds. Stops
    /// the process if there is no memory for the parser.
    package init(limits: Limits = Limits()) {
        guard let handle = sb_json_parser_create(limits.bytes, limits.levels - 1, limits.documents) else {
            preconditionFailure("Out of memory for a JSON parser.")
        }
        (self.handle, self.limits) = (handle, limits)
    }

    deinit {
        sb_json_parser_destroy(handle)
        if let deepHandle { sb_json_parser_destroy(deepHandle) }
    }

    /// The most bytes that a parser keeps after ``reset()``.
    package static let mostRetainedBytes = Int(SB_JSON_RETAINED_BYTES)

    /// Capacity of the parser's buffers in bytes, after ``reset()`` at most ``mostRetainedBytes``.
    package var retainedBytes: Int {
        sb_json_parser_retained_bytes(handle) + (deepHandle.map { sb_json_parser_retained_bytes($0) } ?? 0)
    }

    /// Forgets every document parsed so far and frees large buffers. All values become invalid.
    package func reset() {
        documents.removeAll(keepingCapacity: true)
        sb_json_parser_reset(handle)
        if let deepHandle { sb_json_parser_destroy(deepHandle) }
        deepHandle = nil
    }

    /// Parses one text, which is copied. Skips a byte order mark. Throws a fault of the text, or a bound that it
    /// exceeds; values of earlier texts stay valid.
    package func parse(_ text: UnsafeBufferPointer<UInt8>) throws(JSONError) -> JSONValue {
        try parse(text, foundIn: nil)
    }

    /// Parses one text, as ``parse(_:)`` for borrowed bytes does.
    package func parse(_ text: [UInt8]) throws(JSONError) -> JSONValue {
        try text.withUnsafeBufferPointer { (bytes) throws(JSONError) in try parse(bytes, foundIn: nil) }
    }

    /// Parses the JSON text that a string of another document holds. JSON Pointers into it continue the string's own
    /// pointer. The result is cached until the next reset; a failure is not. Throws `syntax` for a value that is not a
    /// string.
    package func parseText(in string: JSONValue) throws(JSONError) -> JSONValue {
        if let root = opened(string) { return root }
        guard let text = string.utf8 else { throw JSONError(reason: .syntax, offset: nil) }
        return try parse(text, foundIn: string)
    }

    /// Like ``parseText(in:)``, for a string with an encoded text, which the caller has decoded to `text`.
    package func parse(_ text: [UInt8], foundIn string: JSONValue) throws(JSONError) -> JSONValue {
        try text.withUnsafeBufferPointer { (bytes) throws(JSONError) in try parse(bytes, foundIn: string) }
    }

    /// The result of ``parseText(in:)`` for a string; nil if the string has not been parsed since the last reset.
    /// Linear in the number of parsed texts, at most ``Limits/documents``.
    package func opened(_ string: JSONValue) -> JSONValue? {
        guard documents.count > 1 else { return nil }
        return documents.first { $0.origin?.isSamePlace(as: string) == true }?.root
    }

    private func parse(_ text: UnsafeBufferPointer<UInt8>, foundIn origin: JSONValue?) throws(JSONError) -> JSONValue {
        let skipped = text.hasPrefix("\u{FEFF}") ? 3 : 0
        let body = UnsafeBufferPointer(rebasing: text[skipped...])
        // Each handle counts its own documents.
        guard deepHandle == nil || documents.count < limits.documents else {
            throw JSONError(reason: .tooManyDocuments, offset: nil)
        }
        var tape = sb_json_tape()
        var status = sb_json_parse(handle, body.baseAddress, body.count, &tape)
        if status == SB_JSON_DEPTH { status = parseDeep(body, &tape) }
        guard status == SB_JSON_OK, let words = tape.tape, let strings = tape.strings else {
            throw JSONError(status: status, text: body, skipped: skipped, depth: limits.levels)
        }
        let root = JSONValue(tape: words, strings: strings, index: 1)
        documents.append(Document(root: root, origin: origin))
        return root
    }

    /// Parses a text with as many levels as the limit, or more. simdjson does not count an empty container, so an
    /// accepted text is searched for one that is too deep. A text with such a container counts as a document too.
    private func parseDeep(_ text: UnsafeBufferPointer<UInt8>, _ tape: inout sb_json_tape) -> sb_json_status {
        guard documents.count < limits.documents else { return SB_JSON_DOCUMENTS }
        let created: OpaquePointer? =
            deepHandle ?? sb_json_parser_create(limits.bytes, limits.levels, limits.documents)
        guard let deep = created else { return SB_JSON_MEMORY }
        deepHandle = deep
        let status = sb_json_parse(deep, text.baseAddress, text.count, &tape)
        guard status == SB_JSON_OK, let words = tape.tape, let strings = tape.strings else { return status }
        let root = JSONValue(tape: words, strings: strings, index: 1)
        return root.isNested(deeperThan: limits.depth) ? SB_JSON_DEPTH : SB_JSON_OK
    }

    // MARK: JSON Pointers

    /// The JSON Pointer (RFC 6901) of a value in the payload; inside a JSON text, it continues the pointer of the
    /// string that holds the text. Walks the document: for warnings and evidence, not for every value. The value must
    /// be one that this parser has parsed since its last reset.
    package func pointer(to value: JSONValue) -> String {
        var length = 0
        forEachToken(towards: value) { length += $0.length }
        return String(unsafeUninitializedCapacity: length) { text in
            var count = 0
            forEachToken(towards: value) { $0.write(into: text, at: &count) }
            return count
        }
    }

    /// Calls `body` with the tokens of the pointer to a value, after those of the string that holds its text.
    private func forEachToken(towards value: JSONValue, _ body: (JSONPointer.Token) -> Void) {
        let document = document(of: value)
        if let origin = document.origin { forEachToken(towards: origin, body) }
        document.root.forEachStep(towards: value) { token, _ in body(token) }
    }

    /// The position of each step from the root of its text to a value: of a member in its object, of an element in its
    /// array. Unlike a pointer, it distinguishes the values of repeated keys. Traps for a value of an earlier text.
    package func positions(to value: JSONValue) -> [Int] {
        var positions: [Int] = []
        document(of: value).root.forEachStep(towards: value) { _, position in positions.append(position) }
        return positions
    }

    private func document(of value: JSONValue) -> Document {
        guard let document = documents.first(where: { $0.root.tape == value.tape }) else {
            preconditionFailure("A value was used after its parser was reset.")
        }
        return document
    }
}

extension JSONValue {
    /// Whether a container is within this many others of the document. Goes through the tape once.
    fileprivate func isNested(deeperThan limit: Int) -> Bool {
        var (position, level) = (index, 0)
        let end = next
        while position < end {
            let value = at(position)
            switch value.tag {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                level += 1
                guard level <= limit else { return true }
                position += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                level -= 1
                position += 1
            default: position = value.next
            }
        }
        return false
    }

    /// Calls `body` with the token and the position of each step from here to a value of the same document.
    fileprivate func forEachStep(towards target: JSONValue, _ body: (JSONPointer.Token, Int) -> Void) {
        var container = self
        while container.index < target.index, let step = container.step(towards: target) {
            body(step.token, step.position)
            container = step.child
        }
    }

    /// The member or element of a container that holds a value, with the token and the position that lead to it.
    private func step(towards target: JSONValue) -> (token: JSONPointer.Token, position: Int, child: JSONValue)? {
        for (position, (key, child)) in members.enumerated() where child.next > target.index {
            return (.key(key), position, child)
        }
        for (position, child) in elements.enumerated() where child.next > target.index {
            return (.position(position), position, child)
        }
        return nil
    }
}

extension JSONError {
    /// Adds the offset to simdjson's error by reading the text again: only rejected texts pay for it. `skipped`:
    /// length of the byte order mark. A raw control character makes either string error `invalidString`, unless a byte
    /// before it is not UTF-8, as in UTF-16.
    fileprivate init(status: sb_json_status, text: UnsafeBufferPointer<UInt8>, skipped: Int, depth: Int) {
        let reason = Reason(status)
        switch reason {
        case .invalidString, .unclosedString:
            guard let control = Self.firstRawControl(text) else { fallthrough }
            let first = min(control, Self.firstInvalidUTF8(text) ?? .max)
            self.init(reason: first < control ? .invalidUTF8 : .invalidString, offset: first + skipped)
        case .syntax, .incomplete, .invalidNumber:
            let offset = sb_json_error_offset(text.baseAddress, text.count, depth)
            let endsEarly = offset == text.count && reason == .syntax
            self.init(reason: endsEarly ? .incomplete : reason, offset: offset < 0 ? nil : offset + skipped)
        case .invalidUTF8: self.init(reason: reason, offset: Self.firstInvalidUTF8(text).map { $0 + skipped })
        case .empty, .tooDeep, .tooLarge, .tooManyDocuments, .outOfMemory: self.init(reason: reason, offset: nil)
        }
    }

    /// Position of the first raw control character in a string; simdjson reports the error without it.
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

    /// Position of the first byte that is not UTF-8; simdjson reports the error without it.
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
