import SignalboxEgress

/// A strong entity tag (RFC 9110, 8.8.3): the digest of a body.
struct EntityTag {
    let text: String

    init(of body: [UInt8]) { text = "\"" + hexadecimal(sha256(body).prefix(16)) + "\"" }

    /// Whether a request has this body already. `fields`: its `if-none-match`, tags with commas between them, or `*`. They
    /// are compared as this field wants it, a weak tag as if it were strong.
    func isNamed(by fields: [String]) -> Bool {
        fields.contains { field in
            // A comma within a tag ends none of ours: they have none.
            field.split(separator: ",").contains { entry in
                let tag = entry.drop { $0 == " " || $0 == "\t" }
                let strong = tag.hasPrefix("W/") ? tag.dropFirst(2) : tag
                return Self.trimmed(strong) == text || Self.trimmed(tag) == "*"
            }
        }
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}
