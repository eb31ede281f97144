import Foundation
import SignalboxConfig
import SignalboxInApp
import SignalboxJSON
import SignalboxNotification

// Times, durations, zones and properties: read and written alike in every form.

/// Values of one text: times, durations and zones.
extension FormObject {
    /// A duration in the syntax of the config, such as `30s`.
    func span(_ key: StaticString) throws(FormFault) -> Span? {
        guard let value = self[key] else { return nil }
        return try Self.span(value, at: pointer(key))
    }

    /// Milliseconds. Throws for a number without a unit, which could mean seconds as well.
    static func span(_ value: JSONValue, at pointer: String) throws(FormFault) -> Span {
        let expected = "a duration such as \"30s\", with ms, s, m, h or d"
        guard let bytes = value.utf8 else { throw .wrongType(pointer, expected) }
        guard bytes.count <= 16, let duration = Duration(text: String(decoding: bytes, as: UTF8.self)) else {
            throw FormFault(FormFault.Code.invalidValue, pointer, "Expected \(expected).")
        }
        return duration.milliseconds
    }

    /// A time in RFC 3339.
    func instant(_ key: StaticString) throws(FormFault) -> Instant? {
        guard let value = self[key] else { return nil }
        return try Self.instant(value, at: pointer(key))
    }

    /// Milliseconds since 1970; finer fractions are dropped. Throws for a time without a zone.
    static func instant(_ value: JSONValue, at pointer: String) throws(FormFault) -> Instant {
        let expected = "a time such as \"2026-11-22T10:00:30.000Z\" (RFC 3339)"
        guard let bytes = value.utf8 else { throw .wrongType(pointer, expected) }
        guard bytes.count <= 64, let time = Timestamp(iso8601: bytes) else {
            throw FormFault(FormFault.Code.invalidValue, pointer, "Expected \(expected).")
        }
        return time.milliseconds
    }

    /// A name of the IANA time zone database, or `UTC`.
    /// Nil for an absent member. Throws for abbreviations and offsets: they do not tell when summer time begins.
    func zone(_ key: StaticString) throws(FormFault) -> TimeZone? {
        guard let name = try text(key, upTo: 64) else { return nil }
        // As the config has it: abbreviations such as EST are ambiguous.
        let isName = name.utf8.allSatisfy { Self.zoneBytes.contains($0) } && !name.contains("..")
        guard isName, name == "UTC" || name == "GMT" || (name.contains("/") && name.first != "/"),
            let zone = TimeZone(identifier: name)
        else {
            throw FormFault(
                .unknownZone, pointer(key),
                "Unknown time zone: expected an IANA name such as \"Europe/Warsaw\", or UTC.")
        }
        return zone
    }

    /// The bytes of names in the database. Others could name files outside of it.
    private static let zoneBytes = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/_+-.".utf8)
}

/// A value of an event's property or of a filter, as JSON.
extension PropertyValue {
    /// A boolean, a number, a string, `{"date": …}` in RFC 3339, or a list of such values. A list in a list is a fault.
    static func read(_ value: JSONValue, at pointer: String) throws(FormFault) -> PropertyValue {
        guard value.isArray else { return try scalar(value, at: pointer) }
        return .list(
            try FormObject.list(value, at: pointer, upTo: Bounds.listElements) { (value, pointer) throws(FormFault) in
                guard !value.isArray else { throw FormFault(.nested, pointer, "A list cannot contain a list.") }
                return try scalar(value, at: pointer)
            })
    }

    /// Any value except a list. Strings have at most ``Bounds/textLength`` bytes.
    private static func scalar(_ value: JSONValue, at pointer: String) throws(FormFault) -> PropertyValue {
        if let flag = value.bool { return .boolean(flag) }
        if let number = value.double { return .number(number) }
        if let bytes = value.utf8 {
            guard bytes.count <= Bounds.textLength else {
                throw FormFault(
                    .tooLong, pointer, "This string has \(bytes.count) bytes; at most \(Bounds.textLength) are allowed."
                )
            }
            return .text(String(decoding: bytes, as: UTF8.self))
        }
        guard value.isObject, value["date"] != nil else {
            throw .wrongType(pointer, "a boolean, a number, a string, {\"date\": …} or a list of those")
        }
        let object = try FormObject(value, at: pointer, FormKeys.date)
        return .date(try object.required("date", object.instant("date")))
    }

    /// A list of values, such as those of `oneOf`.
    /// Throws for a single value.
    static func list(_ value: JSONValue, at pointer: String) throws(FormFault) -> [PropertyValue] {
        guard case .list(let values) = try read(value, at: pointer) else { throw .wrongType(pointer, "an array") }
        return values
    }
}

// MARK: Writing

extension JSONWriter {
    /// `30s`, `1500ms`: the largest unit that keeps it whole.
    /// Text that ``FormObject/span(_:)`` reads as the same number of milliseconds.
    mutating func span(_ span: Span) { string(Duration.milliseconds(span).text) }

    /// No member for nil.
    mutating func member(_ name: StaticString, span: Span?) {
        guard let span else { return }
        key(name)
        self.span(span)
    }

    /// RFC 3339 with milliseconds, UTC.
    /// A time outside RFC 3339 is written by Foundation.
    mutating func instant(_ instant: Instant) {
        string(
            (Timestamp(milliseconds: instant) ?? Timestamp(Date(timeIntervalSince1970: Double(instant) / 1000))).text)
    }

    /// No member for nil.
    mutating func member(_ name: StaticString, at instant: Instant?) {
        guard let instant else { return }
        key(name)
        self.instant(instant)
    }

    /// Whole numbers without a fraction, so that equal numbers have equal bytes.
    mutating func number(_ number: Double) {
        if let whole = Int64(exactly: number), abs(number) < 0x1p53 { integer(whole) } else { double(number) }
    }

    /// Text that ``PropertyValue/read(_:at:)`` reads as an equal value.
    mutating func property(_ value: PropertyValue) {
        switch value {
        case .boolean(let flag): bool(flag)
        case .number(let number): self.number(number)
        case .text(let text): string(text)
        case .date(let instant):
            beginObject()
            member("date", at: instant)
            endObject()
        case .list(let values): properties(values)
        }
    }

    /// An array of values without their names.
    mutating func properties(_ values: [PropertyValue]) { array(of: values) { $0.property($1) } }
}
