package import SignalboxJSON

/// Describes errors of JSON syntax.
extension ConfigMistake {
    /// Describes a syntax error at its most likely cause, found by a second look at the text. Falls back to the
    /// parser's own position. `file`: the index of the file. `text`: its contents, which the error's offset refers
    /// to. `carrier`: the carrier of the text, for the message. A misspelled word or number is quoted in the message,
    /// so ``repeatsText`` is set for it, unless it may be a secret. A text in UTF-16 or UTF-32 has no ``place``: an
    /// excerpt would not be readable, and could have a secret.
    package init(_ error: JSONError, file: Int, in text: [UInt8], of carrier: Carrier = .file) {
        if Self.isMisspelled(error.reason) || error.reason == .invalidUTF8, Self.isWide(text) {
            // Four zero bytes can only be NUL characters, in UTF-8, UTF-16 and UTF-32.
            let words =
                text.starts(with: [0, 0, 0, 0])
                ? "the \(carrier.rawValue) begins with NUL bytes, as after a power failure; restore it"
                : Self.words(for: .invalidUTF8, in: carrier)
            let start = TextPosition(line: 1, column: 1)
            self.init(.error, file: file, pointer: "", place: nil, at: start, message: words)
            return
        }
        guard Self.isMisspelled(error.reason), let fault = JSONFault(in: text) else {
            let place = error.offset.map { $0..<min($0 + 1, text.count) }
            let words = Self.words(for: error.reason, in: carrier)
            self.init(file: file, pointer: "", place: place, in: text, message: words)
            return
        }
        let hidden = Self.wordsWithoutText(for: fault.kind)
        let mayBeSecret = hidden != nil && SecretScan(text).hides(fault.range)
        let words = mayBeSecret ? hidden : nil
        self.init(
            file: file, pointer: "", place: fault.range, in: text,
            message: words ?? Self.words(for: fault, in: text, of: carrier))
        switch fault.kind {
        case .bareKey, .bareWord, .number: repeatsText = !mayBeSecret
        default: break
        }
        if let opening = fault.opening {
            notes = [Note(file: file, place: opening..<opening + 1, message: "this bracket is open there")]
        }
    }

    /// The carrier of a JSON text. The raw value is its name in messages.
    package enum Carrier: String, Sendable {
        /// A file of a config.
        case file
        /// The body of a request.
        case body
        /// An event pattern, for example of a command's option.
        case pattern
    }

    /// An error for files that are too large together, reported on the file that exceeds the bound; nil within the
    /// bound. The bound is ``ConfigBounds/bytes``.
    init?(sizeOf files: [ConfigText]) {
        var bytes = 0
        for (number, file) in files.enumerated() {
            bytes += file.bytes.count
            guard bytes > ConfigBounds.bytes else { continue }
            let most = ConfigBounds.bytes >> 20
            let words =
                files.count == 1
                ? "the file is larger than \(most) MiB" : "with this file the config is larger than \(most) MiB"
            self.init(file: number, pointer: "", place: nil, in: file.bytes, message: words)
            return
        }
        return nil
    }

    /// Levels of nesting that a config may have: those of ``JSONParser/Limits``.
    private static let levels = JSONParser.Limits().depth

    /// The same words whether the parser or the second look at the text finds it.
    private static let tooDeep = "this is nested more than \(levels) levels deep; flatten it"

    /// Whether the error has a position that can be searched for. False for errors of the file as a whole.
    private static func isMisspelled(_ reason: JSONError.Reason) -> Bool {
        switch reason {
        case .empty, .invalidUTF8, .tooLarge, .tooManyDocuments, .outOfMemory: false
        default: true
        }
    }

    /// Whether a text looks like UTF-16 or UTF-32: it begins with their byte order mark, or has a NUL in the first
    /// character or the second one, which are ASCII in JSON.
    private static func isWide(_ text: [UInt8]) -> Bool {
        text.starts(with: [0xFF, 0xFE]) || text.starts(with: [0xFE, 0xFF]) || text.prefix(4).contains(0)
    }

    /// The problem and its remedy, for errors whose cause the second look did not find.
    private static func words(for reason: JSONError.Reason, in carrier: Carrier) -> String {
        switch reason {
        case .empty: "the \(carrier.rawValue) is empty; it should contain a JSON object"
        case .invalidUTF8: "this is not UTF-8; save the \(carrier.rawValue) as UTF-8"
        case .unclosedString: "the \(carrier.rawValue) ends within a string; a quote is missing"
        case .incomplete: "the \(carrier.rawValue) ends too early; a closing bracket is missing"
        case .invalidString:
            "a string has a line end, another control character or a wrong escape here; close its quote, or escape it"
        case .invalidNumber: "this number does not fit 64 bits"
        case .tooDeep: tooDeep
        case .tooLarge: "the \(carrier.rawValue) is larger than 16 MiB"
        default: "this is not JSON from here on; look for a missing or additional comma, quote or bracket"
        }
    }

    /// The problem and its remedy, with a semicolon between them, as ``ConfigReport`` expects.
    private static func words(for fault: JSONFault, in text: [UInt8], of carrier: Carrier) -> String {
        switch fault.kind {
        case .comment: "JSON has no comments; remove it"
        case .trailingComma: "no value follows this comma; remove it"
        case .additionalComma: "there is one comma too many; remove it"
        case .missingComma: "a comma is missing; write one before the next entry"
        case .missingColon: "a colon is missing; write one between the name and its value"
        case .missingValue: "a value is missing; write one, or remove what leads to it"
        case .missingKey: "a name in double quotes is missing; a member of an object is written as \"name\": value"
        case .singleQuotes: "JSON knows double quotes only; write \" in place of this one and of its partner"
        case .typographicQuotes: "this is a typographic quotation mark; write \" instead"
        case .bareKey(let word): "a name needs double quotes; write \"\(word)\""
        case .bareWord(let word): Self.words(for: word)
        case .number(let number): "\(number) is not a JSON number; write it like 10, -0.5 or 1e3"
        case .unclosedString: "this string is not closed on its line; a quote is missing"
        case .control: "a string has a control character here; escape it, a tab as \\t"
        case .escape: "there is no such escape; write \\\\ for a backslash"
        case .halfSurrogate:
            "this is half of a surrogate pair; write both halves, such as \\ud83d\\ude00, or the character itself"
        case .furtherText:
            "there is text after the end of the \(carrier == .file ? "config" : "JSON value"); remove it, or look for a bracket that closes too early"
        case .wrongClosing: Self.words(forClosing: text[fault.range.lowerBound], of: fault.opening.map { text[$0] })
        case .unclosed:
            "the \(carrier.rawValue) ends too early; a closing \(Self.closing(fault.opening.map { text[$0] })) is missing"
        case .tooDeep: tooDeep
        case .unexpected(let character): "\(character) has no meaning here; look for a missing quote, comma or bracket"
        }
    }

    /// The same words for a fault in a possible secret; nil for faults whose words do not quote the text.
    private static func wordsWithoutText(for kind: JSONFault.Kind) -> String? {
        switch kind {
        case .bareKey: "a name needs double quotes; write them around it"
        case .bareWord: "this is not a JSON value; a string needs double quotes"
        case .number: "this is not a JSON number; write it like 10, -0.5 or 1e3"
        case .unexpected: "this character has no meaning here; look for a missing quote, comma or bracket"
        default: nil
        }
    }

    /// Knows the words of JavaScript, Python and Swift for JSON's own.
    private static func words(for word: String) -> String {
        switch word.lowercased() {
        case "true", "false", "null": "JSON's words are in lower case; write \(word.lowercased())"
        case "none", "nil", "undefined": "there is no \(word) in JSON; write null, or leave the setting out"
        default: "\(word) is not a JSON value; a string needs double quotes: \"\(word)\""
        }
    }

    /// `opening`: the innermost open bracket; nil when none is open.
    private static func words(forClosing closing: UInt8, of opening: UInt8?) -> String {
        let character = Character(UnicodeScalar(closing))
        guard let opening else { return "this \(character) closes nothing; remove it" }
        return "this \(character) does not close the bracket that is open; write \(Self.closing(opening))"
    }

    /// The partner of a bracket.
    private static func closing(_ opening: UInt8?) -> String { opening == UInt8(ascii: "{") ? "}" : "]" }
}
