import SignalboxEgress
import SignalboxJSON
import SignalboxNotification

/// Hashes device tokens with HMAC-SHA256 under the gateway's own key. The same token always has the same name under
/// one key. Safe to use from any number of threads at once.
package struct TokenHash: Sendable {
    private let authentication: MessageAuthentication

    /// `key`: 32 random bytes, stored in the data directory so that a token keeps its hash. Another key gives every
    /// token another hash.
    package init(key: [UInt8]) { authentication = MessageAuthentication(key: key) }

    /// `sha256:` and 64 hexadecimal digits. The name is stable across restarts and can be compared, but the token
    /// cannot be computed from it without the key.
    package func name(of token: [UInt8]) -> String { "sha256:" + hexadecimal(authentication.authenticate(token)) }
}

/// Replaces device tokens inside texts by their keyed hashes. Works on copies. In JSON texts, it replaces them in
/// strings and keys, and searches strings that hold JSON too, up to ``deepestText`` levels.
///
/// A token of at least ``shortestUnique`` bytes is also replaced as a part of a text; see ``Search``. The number of
/// tokens is bounded by their readers, which read the first 1,000 of a list.
struct TokenMask: Sendable {
    /// A shorter text can equal a token by chance, so it is replaced only under a token's key.
    static let shortestUnique = 16
    /// JSON texts inside strings that are parsed: more than a payload of 4 KiB can hold.
    private static let mostTexts = 4096
    /// Nesting of JSON texts inside JSON texts that are parsed.
    private static let deepestText = 4

    /// With more short tokens than this, texts are parsed without searching them first.
    private static let mostSearched = 4

    private let texts: [[UInt8]]
    /// Those of ``texts`` that are shorter than ``shortestUnique``.
    private let shortTexts: [[UInt8]]
    /// Nil for a few tokens, which are compared faster than hashed.
    private let lookup: Set<[UInt8]>?
    private let keys: Set<[UInt8]>
    private let search: Search
    private let hash: TokenHash

    /// Nil when there is nothing to replace. `tokens`: those that the readers found in the payload, with the keys
    /// that they were found under.
    init?(_ tokens: [DeviceToken], hashedBy hash: TokenHash) {
        guard !tokens.isEmpty else { return nil }
        texts = tokens.map { $0.text }
        shortTexts = texts.filter { $0.count < Self.shortestUnique }
        lookup = texts.count > Self.mostSearched ? Set(texts) : nil
        // Every key ends with the empty one.
        keys = Set(tokens.map { $0.key }.filter { !$0.isEmpty })
        search = Search(for: tokens)
        self.hash = hash
    }

    /// The same text with hashes instead of tokens; nil without a token.
    func masked(_ text: String) -> String? {
        guard text.utf8.count >= search.shortest else { return nil }
        return text.utf8Span.span.withUnsafeBufferPointer { masked($0) }
    }

    /// The same for bytes of UTF-8.
    private func masked(_ text: UnsafeBufferPointer<UInt8>) -> String? {
        if let masked = search.replacing(in: text, by: hash) { return masked }
        guard !search.isComplete, text.count >= search.shortest else { return nil }
        let whole = Array(text)
        return isToken(whole) ? hash.name(of: whole) : nil
    }

    /// The same JSON with hashes instead of tokens. Returns the text unchanged if no token can be in it. A text that
    /// exceeds the limits is replaced by its hash.
    func masked(_ json: JSONText) -> JSONText {
        guard mayHoldToken(json.bytes) else { return json }
        var limits = Normalizer.payloadLimits
        // A stored text can be longer than its payload, and nested deeper if a JSON text in a string was parsed.
        limits.bytes *= 8
        limits.depth *= 8
        limits.documents = Self.mostTexts
        let parser = JSONParser(limits: limits)
        return withExtendedLifetime(parser) {
            var writer = JSONWriter()
            do throws(JSONError) {
                write(try parser.parse(json.bytes), under: [], texts: 0, in: parser, into: &writer)
            } catch {
                // A text beyond the limits may hold a token, so only its hash leaves.
                writer.string(hash.name(of: json.bytes))
            }
            return JSONText(writer)
        }
    }

    /// False when no token can begin in the JSON text. Most texts have none and need not be parsed. A false positive
    /// costs a parse. No encoder escapes the bytes by which long tokens are found.
    private func mayHoldToken(_ json: [UInt8]) -> Bool {
        guard shortTexts.count <= Self.mostSearched, search.isComplete else { return true }
        if json.withUnsafeBufferPointer({ search.mayFind(in: $0) }) { return true }
        return shortTexts.contains { token in
            let beginning = token.prefix(8)
            if beginning.contains(where: Self.mayBeEscaped) { return true }
            return json.holds(beginning)
        }
    }

    /// Within a JSON text inside a string, a slash can be escaped too.
    private static func mayBeEscaped(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte >= 0x7F || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
            || byte == UInt8(ascii: "/")
    }

    /// `key`: the key of the nearest enclosing member. `texts`: the number of enclosing JSON texts in strings. Copies
    /// everything but the tokens, in the same order.
    private func write(
        _ value: JSONValue, under key: [UInt8], texts: Int, in parser: JSONParser, into json: inout JSONWriter
    ) {
        switch value.kind {
        case .object:
            json.beginObject()
            value.forEachMember { name, member in
                if let masked = masked(name) { json.key(masked) } else { json.key(utf8: name) }
                write(member, under: Array(name), texts: texts, in: parser, into: &json)
            }
            json.endObject()
        case .array:
            json.array(of: value.elements) { write($1, under: key, texts: texts, in: parser, into: &$0) }
        case .string: write(string: value, under: key, texts: texts, in: parser, into: &json)
        case .integer, .unsigned, .double, .bool, .null: json.value(value)
        }
    }

    /// A string is a token, a JSON text that is searched, or a text that may contain tokens.
    private func write(
        string: JSONValue, under key: [UInt8], texts: Int, in parser: JSONParser, into json: inout JSONWriter
    ) {
        guard let utf8 = string.utf8 else { return json.value(string) }
        let text = Array(utf8)
        if isToken(text, under: key) { return json.string(hash.name(of: text)) }
        if texts < Self.deepestText, Self.looksLikeContainer(text) {
            do throws(JSONError) {
                let opened = try parser.parseText(in: string)
                guard holdsToken(opened, under: key, texts: texts + 1, in: parser) else { return json.value(string) }
                var inner = JSONWriter()
                write(opened, under: key, texts: texts + 1, in: parser, into: &inner)
                return json.string(JSONText(inner).string)
            } catch {
                // An unread text may hold a token.
                if error.reason == .tooManyDocuments { return json.string(hash.name(of: text)) }
            }
        }
        if let masked = masked(utf8) { json.string(masked) } else { json.value(string) }
    }

    /// True for a text that is rewritten, because it may hold a token; other texts keep their whitespace and escapes.
    /// Stops at the first such string or key.
    private func holdsToken(_ value: JSONValue, under key: [UInt8], texts: Int, in parser: JSONParser) -> Bool {
        if let utf8 = value.utf8 {
            let text = Array(utf8)
            return isToken(text, under: key) || mayHoldToken(utf8)
                || texts < Self.deepestText && Self.looksLikeContainer(text)
        }
        return value.members.contains { name, member in
            mayHoldToken(name) || holdsToken(member, under: Array(name), texts: texts, in: parser)
        } || value.elements.contains { holdsToken($0, under: key, texts: texts, in: parser) }
    }

    /// False only if no token of at least ``shortestUnique`` bytes is in a string or key.
    private func mayHoldToken(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        search.mayFind(in: text) || !search.isComplete
    }

    /// Short tokens count only under a key that ends with the token's own key.
    private func isToken(_ text: [UInt8], under key: [UInt8]) -> Bool {
        isToken(text) && (text.count >= Self.shortestUnique || keys.contains { key.ends(with: $0) })
    }

    /// True if the whole text is a token, regardless of its length.
    private func isToken(_ text: [UInt8]) -> Bool { lookup?.contains(text) ?? texts.contains(text) }

    /// True if the first character that is not a space opens an object or an array.
    private static func looksLikeContainer(_ text: [UInt8]) -> Bool {
        let first = text.first { $0 != UInt8(ascii: " ") && $0 != 0x0A && $0 != 0x0D && $0 != 0x09 }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    }
}

/// The device tokens of a request that becomes several pushes: the data of each push may contain the token of another.
/// A class, because up to 1,000 pushes share the prepared mask.
package final class RequestTokens: Sendable {
    let mask: TokenMask

    init(mask: TokenMask) { self.mask = mask }
}

extension [UInt8] {
    /// True if the bytes occur anywhere.
    fileprivate func holds(_ part: ArraySlice<UInt8>) -> Bool {
        guard let first = part.first, part.count <= count else { return part.isEmpty }
        return withUnsafeBufferPointer { bytes in
            for start in 0...bytes.count - part.count where bytes[start] == first {
                if bytes[start..<start + part.count].elementsEqual(part) { return true }
            }
            return false
        }
    }

    /// True if the bytes are at the end.
    fileprivate func ends(with end: [UInt8]) -> Bool { suffix(end.count).elementsEqual(end) }
}
