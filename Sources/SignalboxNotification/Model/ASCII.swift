// Tests of ASCII characters. Other targets use the ones that are `package`.

extension UInt8 {
    /// True for a decimal digit.
    package var isDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }

    /// True for a hexadecimal digit, in either case.
    package var isHexDigit: Bool { isDigit || UInt8(ascii: "a")...UInt8(ascii: "f") ~= self | 0x20 }

    /// True for a letter, in either case, or a decimal digit.
    package var isLetterOrDigit: Bool { isDigit || UInt8(ascii: "a")...UInt8(ascii: "z") ~= self | 0x20 }

    /// The lower-case form of a letter; any other byte unchanged.
    var lowercasedASCII: UInt8 { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self ? self | 0x20 : self }

    /// True for the white space that JSON allows between tokens (RFC 8259, section 2).
    var isJSONSpace: Bool { self == UInt8(ascii: " ") || self == 0x0A || self == 0x0D || self == 0x09 }
}

extension UnsafeBufferPointer<UInt8> {
    /// True when these bytes are this text in any case. `text`: lower-case ASCII.
    func equalsIgnoringCase(_ text: StaticString) -> Bool {
        count == text.utf8CodeUnitCount && hasPrefixIgnoringCase(text)
    }

    /// True when these bytes begin with this text in any case. `text`: lower-case ASCII.
    func hasPrefixIgnoringCase(_ text: StaticString) -> Bool {
        guard count >= text.utf8CodeUnitCount else { return false }
        for position in 0..<text.utf8CodeUnitCount where self[position] | 0x20 != text.utf8Start[position] {
            return false
        }
        return true
    }

    /// True when these bytes begin with `http://` or `https://`, in any case.
    var isWebLink: Bool { hasPrefixIgnoringCase("http://") || hasPrefixIgnoringCase("https://") }
}

extension String {
    /// True when this text begins with `http://` or `https://`, in any case.
    var isWebLink: Bool {
        var text = self
        return text.withUTF8 { $0.isWebLink }
    }

    /// True for a scheme before `://` with which a web view loads no page.
    var isAppLink: Bool {
        let scheme = utf8.prefix { $0.isLetterOrDigit || "+-.".utf8.contains($0) }
        guard !scheme.isEmpty, utf8.dropFirst(scheme.count).starts(with: "://".utf8) else { return false }
        return !["http", "https", "file", "ftp"].contains(Substring(scheme).lowercased())
    }
}
