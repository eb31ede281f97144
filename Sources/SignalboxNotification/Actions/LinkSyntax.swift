/// The syntax of a link (RFC 3986 and, for characters beyond ASCII, RFC 3987): a scheme, a colon, and allowed
/// characters.
struct LinkSyntax {
    /// The schemes that the rules of actions distinguish.
    enum Scheme {
        /// Schemes that require a host.
        case http, https
        /// Runs its own text, or shows it or a file of the device as a page: `javascript`, `vbscript`, `data`, `file`.
        case unsafe
        /// Any other scheme, such as an app's own.
        case other
    }

    /// The scheme, regardless of its case.
    let scheme: Scheme
    /// Length before the colon, in bytes.
    private let schemeLength: Int

    /// Why a text is not a link.
    enum Mistake: Error {
        case noScheme, noHost, unescaped, percentWithoutDigits

        /// One sentence for people.
        var message: String {
            switch self {
            case .noScheme: "The link has no scheme, such as \"https:\"."
            case .noHost: "This address has no host."
            case .unescaped:
                "This link contains a space, quote, brace or other character that must be percent-encoded."
            case .percentWithoutDigits: "The link has a percent sign without two hexadecimal digits after it."
            }
        }
    }

    /// Reads each byte once and does not allocate: the gateway checks every link. Throws the first mistake. Requires a
    /// host of http and https only.
    init(_ text: UnsafeBufferPointer<UInt8>) throws(Mistake) {
        guard let colon = Self.endOfScheme(text) else { throw .noScheme }
        schemeLength = colon
        let name = UnsafeBufferPointer(rebasing: text[..<colon])
        scheme =
            switch colon {
            case 4 where name.equalsIgnoringCase("http"): .http
            case 5 where name.equalsIgnoringCase("https"): .https
            case 4 where name.equalsIgnoringCase("data") || name.equalsIgnoringCase("file"): .unsafe
            case 8 where name.equalsIgnoringCase("vbscript"): .unsafe
            case 10 where name.equalsIgnoringCase("javascript"): .unsafe
            default: .other
            }
        try Self.checkCharacters(text, after: colon)
        guard scheme == .other || scheme == .unsafe || Self.hasHost(text[(colon + 1)...]) else { throw .noHost }
    }

    /// The scheme in lower case. `text`: the link that was parsed.
    func schemeText(of text: String) -> String { String(text.utf8.prefix(schemeLength))?.lowercased() ?? "" }

    /// Position of the colon; nil without a valid scheme before it.
    private static func endOfScheme(_ text: UnsafeBufferPointer<UInt8>) -> Int? {
        for (position, byte) in text.enumerated() {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): continue
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
                if position == 0 { return nil }
            case UInt8(ascii: ":"): return position == 0 ? nil : position
            default: return nil
            }
        }
        return nil
    }

    /// Throws for a character that a URI must percent-encode, and for an incomplete percent encoding.
    private static func checkCharacters(_ text: UnsafeBufferPointer<UInt8>, after colon: Int) throws(Mistake) {
        var position = colon + 1
        while position < text.count {
            let byte = text[position]
            if isForbidden(byte) { throw .unescaped }
            if byte == UInt8(ascii: "%") {
                guard position + 2 < text.count, text[position + 1].isHexDigit, text[position + 2].isHexDigit
                else { throw .percentWithoutDigits }
            }
            position += 1
        }
    }

    /// Accepts brackets everywhere, although they are reserved for IPv6 hosts: many queries contain them.
    private static func isForbidden(_ byte: UInt8) -> Bool {
        switch byte {
        case 0...0x20, 0x7F, UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"),
            UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
            true
        default: false
        }
    }

    /// True with two slashes and a host before the port, path, query or fragment.
    private static func hasHost(_ rest: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        let slash = UInt8(ascii: "/")
        guard rest.count > 2, rest[rest.startIndex] == slash, rest[rest.startIndex + 1] == slash else { return false }
        let authority = rest.dropFirst(2).prefix { $0 != slash && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let host = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[($0 + 1)...] } ?? authority
        return host.first.map { $0 != UInt8(ascii: ":") } ?? false
    }
}
