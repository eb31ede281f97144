/// What a link is by RFC 3986 and, for letters beyond ASCII, RFC 3987: a scheme, a colon, and allowed characters.
struct LinkSyntax {
    enum Scheme {
        case http, https
        /// Runs its own text, or shows it or a file of the device as a page.
        case unsafe
        case other
    }

    let scheme: Scheme
    /// Bytes before the colon.
    private let schemeLength: Int

    enum Mistake: Error {
        case noScheme, noHost, unescaped, percentWithoutDigits

        /// One sentence for a person.
        var message: String {
            switch self {
            case .noScheme: "A link begins with a scheme, such as \"https:\"."
            case .noHost: "This address names no host."
            case .unescaped:
                "A blank, quote, brace or other character stands in this link that has to be percent-encoded."
            case .percentWithoutDigits: "In a link two hexadecimal digits follow a percent sign."
            }
        }
    }

    /// Costs a look at each byte and no memory: every event with a link comes here.
    init(_ text: UnsafeBufferPointer<UInt8>) throws(Mistake) {
        guard let colon = Self.endOfScheme(text) else { throw .noScheme }
        schemeLength = colon
        scheme =
            switch colon {
            case 4 where Self.equals(text[..<colon], "http"): .http
            case 5 where Self.equals(text[..<colon], "https"): .https
            case 4 where Self.equals(text[..<colon], "data") || Self.equals(text[..<colon], "file"): .unsafe
            case 8 where Self.equals(text[..<colon], "vbscript"): .unsafe
            case 10 where Self.equals(text[..<colon], "javascript"): .unsafe
            default: .other
            }
        try Self.checkCharacters(text, after: colon)
        guard scheme == .other || scheme == .unsafe || Self.hasHost(text[(colon + 1)...]) else { throw .noHost }
    }

    /// The scheme of the text that this was made of, in lower case.
    func schemeText(of text: String) -> String { String(text.utf8.prefix(schemeLength))?.lowercased() ?? "" }

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

    private static func checkCharacters(_ text: UnsafeBufferPointer<UInt8>, after colon: Int) throws(Mistake) {
        var position = colon + 1
        while position < text.count {
            let byte = text[position]
            if isForbidden(byte) { throw .unescaped }
            if byte == UInt8(ascii: "%") {
                guard position + 2 < text.count, isHexadecimal(text[position + 1]), isHexadecimal(text[position + 2])
                else { throw .percentWithoutDigits }
            }
            position += 1
        }
    }

    /// Brackets are let through everywhere, though they belong to addresses only: queries are full of them.
    private static func isForbidden(_ byte: UInt8) -> Bool {
        switch byte {
        case 0...0x20, 0x7F, UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"),
            UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
            true
        default: false
        }
    }

    /// Two slashes, and something before the port, path, query or fragment that is not only a user's name.
    private static func hasHost(_ rest: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        let slash = UInt8(ascii: "/")
        guard rest.count > 2, rest[rest.startIndex] == slash, rest[rest.startIndex + 1] == slash else { return false }
        let authority = rest.dropFirst(2).prefix { $0 != slash && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let host = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[($0 + 1)...] } ?? authority
        return host.first.map { $0 != UInt8(ascii: ":") } ?? false
    }

    private static func equals(_ text: Slice<UnsafeBufferPointer<UInt8>>, _ word: StaticString) -> Bool {
        text.enumerated().allSatisfy { $0.element | 0x20 == word.utf8Start[$0.offset] }
    }
}
