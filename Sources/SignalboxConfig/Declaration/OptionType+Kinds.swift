import SignalboxJSON
import SignalboxNotification

// The types of values that several options have.

/// The two forms that most types below are made of.
extension OptionType {
    /// A string. `convert` returns nil for one that is not of this type; `expected` is the error then. `pattern`: a
    /// regular expression (ECMA-262) for the schema; the reader uses `convert` only. An empty string is rejected
    /// before `convert` runs. The error may quote the text, so types of secrets do not use it.
    static func string(
        _ kind: String, limits: String = "", pattern: String? = nil,
        write: @escaping @Sendable (Value) -> JSONNode? = { _ in nil },
        expected: @escaping @Sendable (_ text: String) -> String, _ convert: @escaping @Sendable (String) -> Value?
    ) -> OptionType {
        let schema: JSONNode = pattern.map { ["type": "string", "pattern": .string($0)] } ?? OptionType<String>.anyText
        return OptionType(TypeInfo(kind, limits: limits, schema), write: write) { value, reader in
            guard let text = reader.text(value) else { return nil }
            if let converted = convert(text) { return converted }
            return reader.refuse(value, expected(text))
        }
    }

    /// A value that `convert` accepts; `expected` is the error for any other. `convert` decides alone; the schema is
    /// for editors. `write`: the default as JSON; nil if the reference does not show it.
    static func value(
        _ info: TypeInfo, expected: String, write: @escaping @Sendable (Value) -> JSONNode? = { _ in nil },
        _ convert: @escaping @Sendable (JSONValue) -> Value?
    ) -> OptionType {
        OptionType(info, write: write) { value, reader in
            let converted = convert(value)
            if converted == nil { reader.note(value, expected) }
            return converted
        }
    }
}

// MARK: Words

extension OptionType<String> {
    /// One of several words; the error names the `noun` and suggests the nearest word. For long or open lists. Case
    /// matters.
    static func word(_ noun: String, among known: [String]) -> OptionType {
        OptionType(TypeInfo(kind(of: known), ["enum": .strings(known)])) { value, reader in
            guard let text = reader.text(value) else { return nil }
            if known.contains(text) { return text }
            reader.note(value, "there is no \(noun) \"\(text)\"" + ConfigReader.suggestion(for: text, among: known))
            return nil
        }
    }

    /// One of a few words; `expected` is the error for any other value. For short lists that `expected` can name.
    static func word(among known: [String], expected: String) -> OptionType {
        value(TypeInfo(kind(of: known), ["enum": .strings(known)]), expected: expected) { value in
            value.string.flatMap { known.contains($0) ? $0 : nil }
        }
    }

    /// The words as the reference page lists them.
    private static func kind(of known: [String]) -> String { known.map { "`\($0)`" }.joined(separator: ", ") }
}

extension OptionType where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// One of the cases; see ``word(_:among:)``.
    static func choice(_ noun: String) -> OptionType {
        choice(OptionType<String>.word(noun, among: Value.allCases.map(\.rawValue)))
    }

    /// One of the cases; see ``word(among:expected:)``.
    static func choice(expected: String) -> OptionType {
        choice(OptionType<String>.word(among: Value.allCases.map(\.rawValue), expected: expected))
    }

    /// Cases whose raw value the schema lists.
    private static func choice(_ word: OptionType<String>) -> OptionType {
        OptionType(word.info, write: { .string($0.rawValue) }) { value, reader in
            word.read(value, &reader).flatMap { Value(rawValue: $0) }
        }
    }
}

extension OptionType where Value: OptionSet & Sendable, Value.Element == Value {
    /// An array of words for parts of the set. `known`: the word for each part. The reference page shows a default only
    /// if it is the empty array. Repeated words have no effect.
    static func parts(_ words: OptionType<[String]>, _ known: [(name: String, part: Value)]) -> OptionType {
        OptionType(words.info, write: { $0.isEmpty ? .array([]) : nil }) { value, reader in
            words.read(value, &reader).map { words in Value(known.filter { words.contains($0.name) }.map(\.part)) }
        }
    }
}

// MARK: Numbers

extension OptionType<Bool> {
    /// JSON's own words only, not 0 or 1.
    static var flag: OptionType {
        let info = TypeInfo("`true` or `false`", ["type": "boolean"])
        return value(info, expected: "this must be true or false", write: { .bool($0) }) { $0.bool }
    }
}

extension OptionType<Int> {
    /// Rejects numbers with a fraction. `range` includes its bounds, and is part of the error.
    static func whole(_ range: ClosedRange<Int>) -> OptionType {
        let (low, high) = (range.lowerBound, range.upperBound)
        let schema: JSONNode = ["type": "integer", "minimum": .integer(low), "maximum": .integer(high)]
        return value(
            TypeInfo("whole number", limits: "\(low) to \(high)", schema),
            expected: "this must be a whole number from \(low) to \(high)", write: { .integer($0) }
        ) { value in
            value.integer.flatMap { Int(exactly: $0) }.flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// A number of bytes with a unit, such as `256KB`. `orNumber`: also a number without a unit. Units are those of
    /// ``ByteCount``: `KB` is 1000 bytes, `KiB` is 1024. Both bounds are accepted.
    static func size(_ range: ClosedRange<Int>, example: String, orNumber: Bool = true) -> OptionType {
        let bounds = "\(ByteCount.text(range.lowerBound)) to \(ByteCount.text(range.upperBound))"
        let text: JSONNode = ["type": "string", "pattern": "^[0-9]+(B|KB|MB|GB|KiB|MiB|GiB)$"]
        let info = TypeInfo(
            orNumber ? "size or number of bytes" : "size", limits: bounds,
            orNumber ? ["anyOf": [whole(range).info.schema, text]] : text)
        let number = orNumber ? "a number of bytes, or " : ""
        let units = "B, KB, MB, GB, KiB, MiB or GiB"
        return value(
            info, expected: "this must be \(number)a size such as \"\(example)\", with \(units), from \(bounds)",
            write: { .string(ByteCount.text($0)) }
        ) { value in
            let count = orNumber ? value.integer.flatMap { Int(exactly: $0) } : nil
            return (count ?? value.string.flatMap { ByteCount.read($0) }).flatMap { range.contains($0) ? $0 : nil }
        }
    }
}

extension OptionType<Int64> {
    /// The same values as `type`, for options that are stored or sent as 64 bits.
    static func int64(_ type: OptionType<Int>) -> OptionType { type.map(write: { Int($0) }) { Int64($0) } }
}

extension OptionType<Double> {
    /// Any finite number; the caller checks bounds.
    static var number: OptionType {
        value(TypeInfo("number", ["type": "number"]), expected: "this must be a number") { $0.double }
    }

    /// From 0 to 1, as a number or as a percentage. A percentage may have a fraction, such as `0.5%`.
    static var share: OptionType {
        let number: JSONNode = ["type": "number", "minimum": 0, "maximum": 1]
        let info = TypeInfo(
            "number or percentage", limits: "0 to 1", ["anyOf": [number, ["type": "string", "pattern": "^[0-9.]+%$"]]])
        return value(info, expected: "this must be a number from 0 to 1, or a percentage such as \"10%\"") { value in
            var share = value.double
            if let text = value.string, text.hasSuffix("%"),
                text.utf8.dropLast().allSatisfy({ "0123456789.".utf8.contains($0) })
            {
                share = Double(text.dropLast()).map { $0 / 100 }
            }
            return share.flatMap { (0...1).contains($0) ? $0 : nil }
        }
    }

    /// Events per second, written as `200/s`, `60/m` or `1000/h`. From 1 to 1,000,000 events per unit, so at most
    /// 1,000,000 a second. The value is in events per second.
    static var rate: OptionType {
        string("rate", pattern: "^[+]?[0-9]+/[smh]$") {
            "\"\($0)\" is not a rate; write a whole number and a unit, such as \"200/s\", \"60/m\" or \"1000/h\""
        } _: { text in
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            let units: [Substring: Double] = ["s": 1, "m": 60, "h": 3600]
            guard parts.count == 2, let unit = units[parts[1]], let count = Int(parts[0]),
                (1...1_000_000).contains(count)
            else { return nil }
            return Double(count) / unit
        }
    }
}

/// Times, written as a whole number with one unit.
extension OptionType<Duration> {
    /// `low` and `high`: durations in the syntax of the config; traps for other text. Includes both bounds. `example`
    /// is part of the error. Accepts whole numbers only: `90s`, not `1.5m`.
    static func duration(from low: String, to high: String, example: String) -> OptionType {
        let range = length(low)...length(high)
        return value(
            TypeInfo("duration", limits: "\(low) to \(high)", ["type": "string", "pattern": "^[0-9]+(ms|s|m|h|d)$"]),
            expected: "this must be a duration such as \"\(example)\", with ms, s, m, h or d, from \(low) to \(high)",
            write: { .string($0.text) }
        ) { value in
            value.string.flatMap { Duration(text: $0) }.flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// For declarations only: a mistake in one traps at the start of each process.
    private static func length(_ text: String) -> Duration {
        guard let duration = Duration(text: text) else { preconditionFailure("Not a duration: \(text)") }
        return duration
    }
}

extension OptionType<Timestamp> {
    /// With an offset or `Z`; fractions of a second are accepted. The value has milliseconds; further digits are cut.
    static var instant: OptionType {
        let pattern =
            "^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})$"
        return value(
            TypeInfo("RFC 3339 time", ["type": "string", "pattern": .string(pattern)]),
            expected: "this must be a time such as \"2026-11-27T08:00:00+01:00\" (RFC 3339)"
        ) { value in
            value.utf8.flatMap { Timestamp(iso8601: $0) }
        }
    }
}
