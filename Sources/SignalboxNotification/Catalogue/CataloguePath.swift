import SignalboxJSON

/// The path of a value among the vendor's keys: a JSON Pointer with three extensions.
///
/// - A scope may precede it: `apns:/title` searches only next to `aps`, `fcm:/title` only FCM's data, `payload:/to`
///   the whole payload.
/// - A token `*` matches every member or element; `{i}` in a token counts up.
/// - A string on the path that contains JSON text is parsed, one for each path.
///
/// A class although it is immutable: a reading passes dozens of paths on, and a copy would count a reference for each
/// part. Sendable: its keys never change.
final class CataloguePath: @unchecked Sendable, Equatable {
    /// The objects of a payload that a path searches.
    enum Scope: String, Sendable {
        /// The raw values are the prefixes of paths; `anywhere` has none.
        case anywhere, apns, fcm, payload

        /// True when a path of this scope searches an object with the keys of a platform. Objects of no platform may
        /// contain any platform's keys, and so may web pushes.
        func admits(_ layer: VendorFields.Reserved) -> Bool {
            switch (self, layer) {
            case (.anywhere, _), (.apns, .apns), (.fcm, .fcm), (.fcm, .fcmBundle), (.apns, .none), (.fcm, .none),
                (.apns, .webPush), (.fcm, .webPush):
                true
            case (.apns, .fcm), (.apns, .fcmBundle), (.fcm, .apns), (.payload, _): false
            }
        }
    }

    /// One step of a path.
    enum Token: Sendable, Equatable {
        /// A key of an object, or the number of a list's element.
        case key([UInt8])
        /// `*`: every element of a list, or every member of an object.
        case each
        /// The parts before and after the number.
        case counted([UInt8], [UInt8])

        /// By bytes: comparing characters took most of the time in which the built-in catalogue is read.
        fileprivate init(_ text: Substring.UTF8View) {
            var plain = Array(text)
            if plain.contains(UInt8(ascii: "~")) {
                plain = Array(Substring(text).replacing("~1", with: "/").replacing("~0", with: "~").utf8)
            }
            if plain.elementsEqual("*".utf8) {
                self = .each
            } else if plain.contains(UInt8(ascii: "{")),
                let number = plain.indices.first(where: { plain[$0...].starts(with: "{i}".utf8) })
            {
                self = .counted(Array(plain[..<number]), Array(plain[(number + 3)...]))
            } else {
                self = .key(plain)
            }
        }
    }

    /// The path as its author wrote it.
    let text: String
    /// The objects that the path searches; `anywhere` without a prefix.
    let scope: Scope
    /// At least one.
    let tokens: [Token]
    /// The tokens if all of them are keys, prepared for lookups; otherwise empty. Valid as long as the path.
    let keys: UnsafeBufferPointer<JSONKey>
    private let keyPath: JSONKeyPath
    /// The keys among the tokens, each with a dot: `custom.a.` Made at each call.
    var dotted: [UInt8] { tokens.compactMap { Self.key($0) }.flatMap { $0 + [UInt8(ascii: ".")] } }

    /// Nil for a text that is not a path. Requires a slash after the scope, and at least one token that is not
    /// empty. An unknown scope is not a path.
    convenience init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count > 1, parts.count > 2 || !parts[1].isEmpty else { return nil }
        var scope = Scope.anywhere
        if !parts[0].isEmpty {
            let name = String(Substring(parts[0].dropLast()))
            guard parts[0].last == UInt8(ascii: ":"), let named = Scope(rawValue: name), named != .anywhere else {
                return nil
            }
            scope = named
        }
        self.init(text, scope, parts.dropFirst().map { Token($0) })
    }

    /// Takes parts of a path that was read before.
    private init(_ text: String, _ scope: Scope, _ tokens: [Token]) {
        (self.text, self.scope, self.tokens) = (text, scope, tokens)
        let keys = tokens.compactMap { Self.key($0) }
        keyPath = JSONKeyPath(keys.count == tokens.count ? keys : [])
        self.keys = keyPath.keys
    }

    static func == (left: CataloguePath, right: CataloguePath) -> Bool {
        left === right || (left.text == right.text && left.scope == right.scope && left.tokens == right.tokens)
    }

    /// The path of its first tokens. `length`: at least one. ``text`` stays that of the whole path.
    func beginning(_ length: Int) -> CataloguePath { CataloguePath(text, scope, Array(tokens.prefix(length))) }

    /// The key with which the path begins; nil if it begins with another token.
    var firstKey: [UInt8]? { Self.key(tokens[0]) }

    /// The key of the value at the path, or of the list that contains it.
    var lastKey: [UInt8]? { tokens.lazy.compactMap { Self.key($0) }.last }

    /// The key of a token; nil for `*` and `{i}`.
    private static func key(_ token: Token) -> [UInt8]? {
        if case .key(let key) = token { key } else { nil }
    }

    /// True with a token `{i}`.
    var isCounted: Bool {
        tokens.contains { token in
            if case .counted = token { true } else { false }
        }
    }

    /// True when every value at this path is at another path or inside a value there. A path leads through itself.
    func leads(through path: CataloguePath) -> Bool {
        (path.scope == .anywhere || path.scope == scope) && tokens.starts(with: path.tokens)
    }
}
