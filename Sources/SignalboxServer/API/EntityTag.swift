import SignalboxEgress

/// A strong entity tag (RFC 9110, 8.8.3).
struct EntityTag {
    /// With its quotation marks, as in the header `etag`.
    let text: String

    /// `name`: without quotation marks and commas; a digest, for example.
    init(quoting name: String) { text = "\"\(name)\"" }

    /// The tag of a body is its digest. Equal bodies have equal tags, on every gateway. Uses the first 16 bytes of
    /// the SHA-256.
    init(of body: [UInt8]) { self.init(quoting: hexadecimal(sha256(body).prefix(16))) }

    /// Whether the value of `if-match` or `if-none-match` lists this tag or is `*`. `acceptsWeak`: a weak tag counts
    /// like a strong one, as `if-none-match` requires (RFC 9110, 13.1.1 and 13.1.2). False for a missing field. Tags
    /// are compared byte by byte.
    func isListed(in field: String?, acceptsWeak: Bool) -> Bool {
        // Our tags have no comma, so a comma inside another tag does no harm.
        (field ?? "").split(separator: ",").contains { entry in
            let tag = entry.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
            return tag == "*" || tag == text || (acceptsWeak && tag == "W/" + text)
        }
    }
}
