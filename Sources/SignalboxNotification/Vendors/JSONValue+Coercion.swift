package import SignalboxJSON

// How the vendors' SDKs convert values of unexpected types: the only conversions in this target.

extension JSONValue {
    /// The text of a non-empty string.
    var text: String? {
        guard let utf8, !utf8.isEmpty else { return nil }
        return string
    }

    /// True for a non-empty string; does not copy it.
    var hasText: Bool { utf8.map { !$0.isEmpty } ?? false }

    /// True when ``scalarText`` is not nil; does not copy it.
    var hasScalarText: Bool {
        switch kind {
        case .string: hasText
        case .integer, .unsigned, .double, .bool: true
        case .object, .array, .null: false
        }
    }

    /// True for an element that ``SignalboxJSON/JSONParser/strings(_:)`` reads: a scalar, or null for an absent one.
    var isArgument: Bool { !isObject && !isArray }

    /// A non-empty string, or a number or boolean as text: FCM delivers every value as a string.
    var scalarText: String? {
        switch kind {
        case .string: text
        case .integer, .unsigned, .double:
            integer.map { String($0) } ?? unsigned.map { String($0) } ?? double?.description
        case .bool: bool == true ? "true" : "false"
        case .object, .array, .null: nil
        }
    }

    /// True when ``scalarText`` is this text. Copies no string if the bytes are equal or both texts are ASCII; others
    /// may be equal by Unicode's rules.
    func isScalar(withText text: String) -> Bool {
        guard let utf8 else { return scalarText == text }
        let (isSame, isASCII) = text.utf8Span.span.withUnsafeBufferPointer { text in
            let isSame = text.equals(utf8)
            return (isSame, isSame || !text.hasHighBytes && !utf8.hasHighBytes)
        }
        return isASCII ? isSame && !utf8.isEmpty : scalarText == text
    }

    /// A whole number, or one from a string; accepts `5.57e+15` (Leanplum writes identifiers that way).
    var number: Int64? {
        guard let string else { return integer }
        return Int64(string) ?? Double(decimal: string).flatMap { Int64(exactly: $0) }
    }

    /// A finite number, or one from a string.
    var decimal: Double? {
        guard let string else { return double }
        return Double(decimal: string).flatMap { $0.isFinite ? $0 : nil }
    }

    /// An instant: ISO 8601, or a number of seconds or milliseconds since 1970, which may be a string. Numbers from
    /// 10¹¹ on are milliseconds: as seconds they would be after the year 5138, as milliseconds they are after March
    /// 1973.
    var instant: Timestamp? {
        if let utf8, let date = Timestamp(iso8601: utf8) { return date }
        guard let number = number ?? decimal.flatMap({ Int64(exactly: $0.rounded(.down)) }), number > 0 else {
            return nil
        }
        return number < 100_000_000_000 ? Timestamp(seconds: number) : Timestamp(milliseconds: number)
    }

    /// True for a number of 0 or less, which SDKs write for a period without a limit.
    var meansNoLimit: Bool { decimal.map { $0 <= 0 } ?? false }

    /// A flag as Apple's `boolValue` reads it, which the iOS SDKs use: true for numbers other than zero, and for
    /// strings that begin with Y, y, T, t or, after a sign and zeros, with a digit (Braze, ABKPushUtils.m).
    var appleFlag: Bool {
        guard let utf8 else { return bool ?? (double.map { $0 != 0 } ?? false) }
        let digits = utf8.drop { $0 == UInt8(ascii: " ") }.drop { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") }
        guard let first = digits.drop(while: { $0 == UInt8(ascii: "0") }).first else { return false }
        return first.isDigit || "YyTt".utf8.contains(first)
    }

    /// A flag as the Android SDKs read it: `"true"` in any case, or a boolean.
    var androidFlag: Bool { bool ?? utf8?.equalsIgnoringCase("true") ?? false }

    /// True for a string that begins with `http`, as opposed to the name of a resource in the app.
    var isRemote: Bool { utf8?.hasPrefixIgnoringCase("http") ?? false }

    /// The first byte of a string that is not white space: avoids parsing strings that cannot be JSON.
    var firstMark: UInt8? { utf8?.first { !$0.isJSONSpace } }
}

extension JSONParser {
    /// An object, or the one whose JSON text a string contains, as in FCM's `data`. The parser parses the text once,
    /// and does not parse texts inside it.
    func object(_ value: JSONValue?) -> JSONValue? {
        guard let value else { return nil }
        if value.isObject { return value }
        return value.firstMark == UInt8(ascii: "{") ? opening(value) : nil
    }

    /// An object or list, or the one whose JSON text a string contains, as Base64 if ``open(_:as:)`` has decoded it.
    func container(_ value: JSONValue) -> JSONValue? {
        if value.isObject || value.isArray { return value }
        guard let mark = value.firstMark else { return nil }
        return mark == UInt8(ascii: "{") || mark == UInt8(ascii: "[") ? opening(value) : opened(value)
    }

    /// Parses the JSON text that a string contains in another encoding. Without effect on a text that is not JSON.
    func open(_ string: JSONValue, as text: [UInt8]) {
        do { _ = try parse(text, foundIn: string) } catch { return }
    }

    /// The strings of a list, or of a list that is JSON text in a string, as FCM's localisation arguments are. Any
    /// other string is the only element. An element without a text is the empty string, so that the others keep their
    /// positions.
    func strings(_ value: JSONValue?) -> [String] {
        guard let value else { return [] }
        guard let list = argumentList(value) else { return value.text.map { [$0] } ?? [] }
        return list.elements.prefix(longestList).map { $0.string ?? $0.scalarText ?? "" }
    }

    /// The list of ``strings(_:)``: the value itself, or the one whose JSON text a string contains; nil for any other
    /// value.
    func argumentList(_ value: JSONValue) -> JSONValue? {
        if value.isArray { return value }
        return value.firstMark == UInt8(ascii: "[") ? opening(value) : nil
    }

    /// The value of a JSON text; nil for a text that is not JSON, or beyond the parser's limits.
    private func opening(_ text: JSONValue) -> JSONValue? {
        do { return try parseText(in: text) } catch { return nil }
    }
}

extension Double {
    /// Reads a decimal number. Nil for hexadecimal numbers such as `0x1F`, which `Double.init` would accept.
    package init?(decimal text: String) {
        guard !text.utf8.contains(where: { $0 | 0x20 == UInt8(ascii: "x") }) else { return nil }
        self.init(text)
    }
}

extension JSONText {
    /// Parses the text and calls `body` with its value, which is valid only inside `body`; nil if the text is too
    /// large or nested too deep for a parser.
    package func withValue<Result>(_ body: (JSONValue) -> Result?) -> Result? {
        JSONParser.read(bytes, body)
    }
}
