import SignalboxJSON
import SignalboxNotification

/// Replaces device tokens in the keys of a payload's pointers by their hashes, as the event has them.
///
/// The payload may contain tokens that only the request named, such as that of a push to APNs. Their hashes are in the
/// stored event.
struct PointerMask {
    private static let prefix = Array("sha256:".utf8)
    /// Bytes of a hash with its prefix.
    private static let length = prefix.count + 64

    private let mask: TokenMask?
    private let hash: TokenHash
    /// The hashes in the event.
    private let names: Set<String>
    /// Keys without tokens. Pointers share their first keys, and each key is hashed once.
    private var known: [String: String] = [:]

    /// `tokens`: those of the payload. `event`: the event that has been made of it.
    init(for tokens: [DeviceToken], in event: [UInt8], hashedBy hash: TokenHash) {
        mask = TokenMask(tokens, hashedBy: hash)
        self.hash = hash
        var names: Set<String> = []
        var rest = event[...]
        while let start = rest.firstIndex(of: Self.prefix[0]) {
            rest = rest[start...]
            let name = rest.prefix(Self.length)
            if name.count == Self.length, name.starts(with: Self.prefix) {
                names.insert(String(decoding: name, as: UTF8.self))
            }
            rest = rest.dropFirst()
        }
        self.names = names
    }

    /// The same pointer without tokens.
    mutating func masked(_ pointer: String) -> String {
        guard !names.isEmpty, let keys = JSONPointer(pointer)?.tokens else { return pointer }
        return keys.map { "/" + JSONPointer.escape(masked(key: $0)) }.joined()
    }

    private mutating func masked(key: String) -> String {
        if let known = known[key] { return known }
        let masked = mask?.masked(key) ?? name(of: key) ?? key
        known[key] = masked
        return masked
    }

    /// The hash of a key that is a token, which APNs writes in either case; nil for another key.
    private func name(of key: String) -> String? {
        guard key.utf8.count >= TokenMask.shortestUnique else { return nil }
        let spellings = [key, key.lowercased()].lazy.map { hash.name(of: Array($0.utf8)) }
        return spellings.first { names.contains($0) }
    }
}

extension Provenance {
    /// The same links without device tokens in pointers into the payload. Those into the event have none.
    func masked(by mask: PointerMask) -> Provenance {
        var (provenance, mask) = (self, mask)
        provenance.links = links.map { Link(raw: mask.masked($0.raw), event: $0.event, how: $0.how) }
        provenance.unread = unread.map { mask.masked($0) }
        return provenance
    }
}
