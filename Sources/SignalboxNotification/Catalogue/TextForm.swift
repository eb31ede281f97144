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
    /// An `http` or `https` address.
    case url
    /// ASCII letters and digits only, at least one.
    case alphanumeric
    /// A date and time of ISO 8601 with its offset.
    case dateTime

    func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        switch self {
        case .uuid:
            text.count == 36
                && text.enumerated().allSatisfy { position, byte in
                    Self.uuidHyphens.contains(position) ? byte == UInt8(ascii: "-") : Self.isHex(byte)
                }
        case .hex: !text.isEmpty && text.allSatisfy(Self.isHex)
        case .digits: !text.isEmpty && text.allSatisfy(Self.isDigit)
        case .ulid: text.count == 26 && text.allSatisfy(Self.isBase32)
        case .alphanumeric: !text.isEmpty && text.allSatisfy(Self.isAlphanumeric)
        case .dateTime: Timestamp(iso8601: text) != nil
        case .url: Self.schemes.contains { text.count > $0.utf8.count && text.starts(with: $0.utf8) }
        }
    }

    /// The form in words, for `explain` and `signalbox vendors`.
    var words: String {
        switch self {
        case .uuid: "a UUID"
        case .hex: "hexadecimal digits"
        case .digits: "decimal digits"
        case .ulid: "a ULID"
        case .url: "an http or https URL"
        case .alphanumeric: "letters and digits"
        case .dateTime: "a date and time of ISO 8601"
        }
    }

    private static let uuidHyphens: Set<Int> = [8, 13, 18, 23]
    private static let schemes = ["http://", "https://"]

    private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

    private static func isHex(_ byte: UInt8) -> Bool {
        isDigit(byte) || UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte | 0x20
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        isDigit(byte) || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
    }

    /// Crockford's alphabet leaves out I, L, O and U.
    private static func isBase32(_ byte: UInt8) -> Bool {
        isDigit(byte) || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 && !"ilou".utf8.contains(byte | 0x20)
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// True for an `http` or `https` address whose host is `host` or ends with a dot and `host`, in lower case.
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
