import SignalboxJSON

/// A form that identifiers have and ordinary texts do not.
enum TextForm: String, CaseIterable, Sendable {
    /// RFC 9562: 8-4-4-4-12 hexadecimal digits, in either case.
    case uuid
    /// Hexadecimal digits only, in either case, at least one.
    case hex
    /// Decimal digits only, at least one.
    case digits
    /// 26 characters of Crockford's base 32, in either case.
    case ulid
    /// An `http` or `https` URL.
    case url
    /// ASCII letters and digits only, at least one.
    case alphanumeric
    /// ASCII letters and digits only, at least one letter: not a number.
    case lettered
    /// A date and time of ISO 8601 with its offset.
    case dateTime

    /// True if the whole text has this form. Linear in the text. An upper-case scheme is not a URL of this form.
    func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        switch self {
        case .uuid:
            text.count == 36
                && text.enumerated().allSatisfy { position, byte in
                    switch position {
                    case 8, 13, 18, 23: byte == UInt8(ascii: "-")
                    default: byte.isHexDigit
                    }
                }
        case .hex: !text.isEmpty && text.allSatisfy(\.isHexDigit)
        case .digits: !text.isEmpty && text.allSatisfy(\.isDigit)
        // Crockford's alphabet lacks I, L, O and U.
        case .ulid: text.count == 26 && text.allSatisfy { $0.isLetterOrDigit && !"ilou".utf8.contains($0 | 0x20) }
        case .alphanumeric: !text.isEmpty && text.allSatisfy(\.isLetterOrDigit)
        case .lettered: text.allSatisfy(\.isLetterOrDigit) && !text.allSatisfy(\.isDigit)
        case .dateTime: Timestamp(iso8601: text) != nil
        case .url: text.count > 7 && text.hasPrefix("http://") || text.count > 8 && text.hasPrefix("https://")
        }
    }

    /// The form as a noun phrase, for `signalbox explain` and `signalbox vendors`.
    var summary: String {
        switch self {
        case .uuid: "a UUID"
        case .hex: "hexadecimal digits"
        case .digits: "decimal digits"
        case .ulid: "a ULID"
        case .url: "an http or https URL"
        case .alphanumeric: "letters and digits"
        case .lettered: "letters and digits, at least one letter"
        case .dateTime: "a date and time of ISO 8601"
        }
    }
}

/// URLs are compared in place, without a copy or a parser.
extension UnsafeBufferPointer<UInt8> {
    /// True for an `http` or `https` URL on a host or a subdomain of it. `host`: in lower case. False for a URL with
    /// a user name: the text before `@` is not the host.
    func isURL(below host: String) -> Bool {
        guard let scheme = ["https://", "http://"].first(where: { starts(with: $0.utf8) }) else { return false }
        let rest = dropFirst(scheme.utf8.count)
        let authority = rest.prefix { !"/?#".utf8.contains($0) }
        guard !authority.contains(UInt8(ascii: "@")) else { return false }
        let name = authority.prefix { $0 != UInt8(ascii: ":") }
        guard name.count > host.utf8.count else { return name.elementsEqual(host.utf8) }
        return name.suffix(host.utf8.count + 1).elementsEqual(".".utf8 + Array(host.utf8))
    }
}
