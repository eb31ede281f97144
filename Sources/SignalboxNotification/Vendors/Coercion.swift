import SignalboxJSON

// What the vendors' SDKs make of values that are not of the type that they should be, in one place.

extension JSONValue {
    /// The text of a string that is not empty.
    var text: String? {
        guard let utf8, !utf8.isEmpty else { return nil }
        return string
    }

    /// True when there is ``text``; makes no copy of it.
    var hasText: Bool { utf8.map { !$0.isEmpty } ?? false }

    /// True when there is something ``spelled``.
    var isSpelled: Bool {
        switch kind {
        case .string: hasText
        case .integer, .unsigned, .double, .bool: true
        case .object, .array, .null: false
        }
    }

    /// Text, or a number or boolean as text: FCM delivers every value as a string, whatever the sender wrote.
    var spelled: String? {
        switch kind {
        case .string: text
        case .integer, .unsigned, .double:
            integer.map { String($0) } ?? unsigned.map { String($0) } ?? double?.description
        case .bool: bool == true ? "true" : "false"
        case .object, .array, .null: nil
        }
    }

    /// A whole number, or a string that spells one, `5.57e+15` included (Leanplum spells identifiers so).
    var number: Int64? {
        guard let string else { return integer }
        return Int64(string) ?? Double(string).flatMap { Int64(exactly: $0) }
    }

    /// A number with its fraction, or a string that spells one.
    var decimal: Double? {
        guard let string else { return double }
        return Double(string).flatMap { $0.isFinite ? $0 : nil }
    }

    /// An instant: ISO 8601, or a number of seconds or milliseconds since 1970, or its text. Numbers from 10¹¹ on are
    /// milliseconds: as seconds they would be later than the year 5138, as milliseconds they are later than March 1973.
    var instant: Timestamp? {
        if let utf8, let date = Timestamp(iso8601: utf8) { return date }
        guard let number = number ?? decimal.flatMap({ Int64(exactly: $0.rounded(.down)) }), number > 0 else {
            return nil
        }
        return number < 100_000_000_000 ? Timestamp(seconds: number) : Timestamp(milliseconds: number)
    }

    /// True for a number that stands for no instant at all: 0 or less, as SDKs write that there is no limit.
    var isNoInstant: Bool { decimal.map { $0 <= 0 } ?? false }

    /// A flag as Apple's `boolValue` reads it, which the iOS SDKs use: numbers other than zero, strings that begin with
    /// Y, y, T, t or, after a sign and zeros, with a digit (Braze, ABKPushUtils.m).
    var appleFlag: Bool {
        guard let utf8 else { return bool ?? (double.map { $0 != 0 } ?? false) }
        let digits = utf8.drop { $0 == UInt8(ascii: " ") }.drop { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") }
        guard let first = digits.drop(while: { $0 == UInt8(ascii: "0") }).first else { return false }
        return (UInt8(ascii: "1")...UInt8(ascii: "9")).contains(first) || "YyTt".utf8.contains(first)
    }

    /// A flag as the Android SDKs read it: `"true"` in any case, or a boolean where the sender did not write strings.
    var androidFlag: Bool { bool ?? utf8?.spells("true") ?? false }
}

extension UnsafeBufferPointer<UInt8> {
    /// True when these bytes are this lower-case ASCII text in any case.
    func spells(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        return indices.allSatisfy { self[$0] | 0x20 == text.utf8Start[$0] }
    }

    /// True when these bytes begin with this lower-case ASCII text in any case.
    func startsSpelling(_ text: StaticString) -> Bool {
        guard count >= text.utf8CodeUnitCount else { return false }
        return UnsafeBufferPointer(rebasing: self[..<text.utf8CodeUnitCount]).spells(text)
    }
}

extension JSONParser {
    /// An object, or the object whose JSON text a string holds: nested objects travel so in FCM's `data`. The text is
    /// parsed once, and texts inside it stay texts.
    func object(_ value: JSONValue?) -> JSONValue? {
        guard let value else { return nil }
        if value.isObject { return value }
        return text(in: value, opening: UInt8(ascii: "{"))
    }

    /// The strings of a list, or of a list that is JSON text in a string, as in FCM's localisation arguments. Any
    /// other text is the only string.
    func strings(_ value: JSONValue?) -> [String] {
        guard let value, let list = value.isArray ? value : text(in: value, opening: UInt8(ascii: "[")) else {
            return value?.text.map { [$0] } ?? []
        }
        return list.elements.prefix(longestList).map { $0.string ?? $0.spelled ?? "" }
    }

    private func text(in value: JSONValue, opening mark: UInt8) -> JSONValue? {
        guard value.firstMark == mark else { return nil }
        do { return try parseText(in: value) } catch { return nil }
    }
}

extension JSONValue {
    /// The first byte of a string that is no blank: spares parsing texts that cannot be what is looked for.
    fileprivate var firstMark: UInt8? {
        utf8?.first { $0 != UInt8(ascii: " ") && $0 != 0x0A && $0 != 0x0D && $0 != 0x09 }
    }
}

extension Action {
    /// What opening a link comes to: the web for `http` and `https`, else a place in an app.
    static func opening(_ link: JSONValue, inWebView: Bool = false, vendorType: String? = nil) -> Action? {
        guard let bytes = link.utf8, let value = link.text else { return nil }
        let isWeb = bytes.startsSpelling("http://") || bytes.startsSpelling("https://")
        return Action(inWebView ? .webView : isWeb ? .openUrl : .deepLink, value: value, vendorType: vendorType)
    }
}
