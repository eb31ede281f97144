import SignalboxJSON

/// Hides values of a config that may be secrets, from operators who may read the rest of the config.
///
/// Shows only values of declared options, and of options for secrets only references such as `env:NAME`. So a secret
/// stays hidden if an operator pasted it there, or into an option that does not exist. Device tokens are hidden unless
/// they are hashed.
enum ConfigMask {
    /// In place of a hidden value, as JSON text.
    private static let hidden = "\"[hidden]\""
    /// In place of the name of an unknown option.
    private static let unknown = "…"
    /// The most characters of a value.
    private static let longest = 200
    /// How keys of Standard Webhooks begin.
    private static let keyPrefixes = ["whsec_", "whsk_"]
    /// How values of options for device tokens begin that are not tokens in clear.
    private static let tokenPrefixes = ["sha256:", "file:"]

    /// The rule for a value.
    private enum Rule {
        /// Shown, without keys of Standard Webhooks and credentials of URLs.
        case open
        /// The option has a reference to a secret, or a header that may be one.
        case reference
        /// The option has an object or array, and no short form.
        case misplaced
        /// `depth`: the number of tokens that lead to the unknown name.
        case unknown(depth: Int)
        /// The option has device tokens, of which only hashes and files are shown.
        case tokens
    }

    /// Whether the `url` of a destination grants access by itself: its format has no signature. A format that does not
    /// exist counts, too: the operator may have misspelled it.
    static func hasSecretURL(_ destination: JSONValue) -> Bool {
        destination.members.contains { key, value in
            guard String(decoding: key, as: UTF8.self) == "format" else { return false }
            return !isSigned(value.string)
        }
    }

    /// False for a format without a signature, and for one that does not exist.
    static func isSigned(_ format: String?) -> Bool {
        format.flatMap { Destination.Format.Name(rawValue: $0) }?.isSigned == true
    }

    /// `text`: the value as JSON text. `path`: unescaped tokens. `isSecretURL`: shows only its host, or a reference.
    /// Cuts after ``longest`` characters; `…` follows a string that was cut.
    static func text(of value: JSONValue, _ text: String, at path: [String], isSecretURL: Bool) -> String {
        switch rule(path) {
        case .unknown: return hidden
        case .misplaced: return value.isEmptyContainer ? text : hidden
        case .reference:
            guard let string = value.string, SecretReference(string) != nil else { return hidden }
        case .tokens:
            guard let string = value.string, tokenPrefixes.contains(where: { string.hasPrefix($0) }) else {
                return hidden
            }
        case .open: break
        }
        guard let string = value.string else { return String(text.prefix(longest)) }
        guard !keyPrefixes.contains(where: { string.contains($0) }) else { return hidden }
        let hidesPath = isSecretURL && SecretReference(string) == nil
        guard !hidesPath || string.contains("://") else { return hidden }
        let shown = string.contains("://") ? withoutCredentials(string, hidesPath: hidesPath) : string
        var json = JSONWriter()
        json.string(shown.count > longest ? shown.prefix(longest) + "…" : shown)
        return String(decoding: json.bytes, as: UTF8.self)
    }

    /// The JSON Pointer, up to the name of an unknown option.
    static func pointer(_ path: [String]) -> String {
        var shown = path
        if case .unknown(let depth) = rule(path) { shown = path.prefix(depth) + [unknown] }
        return shown.map { "/" + JSONPointer.escape($0) }.joined()
    }

    /// The URL without userinfo and query, and without its path if that is hidden.
    private static func withoutCredentials(_ url: String, hidesPath: Bool) -> String {
        guard let scheme = url.firstRange(of: "://") else { return url }
        let rest = url[scheme.upperBound...]
        let authority = rest.prefix { !"/?#".contains($0) }
        let path = rest[authority.endIndex...].prefix { $0 != "?" && $0 != "#" }
        let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        guard !hidesPath else { return "\(url[..<scheme.upperBound])\(host)/[hidden]" }
        let hasMore = path.endIndex != rest.endIndex
        return "\(url[..<scheme.upperBound])\(host)\(path)\(hasMore ? "?[hidden]" : "")"
    }

    /// Walks down the declarations of the options. Names and positions of entries need no declaration.
    private static func rule(_ path: [String]) -> Rule {
        var options = GatewayConfig.options.infos
        var depth = 0
        // Whether the value is the short form of an option that may also be an object, such as "ordering": "fifo".
        var isShort = false
        while depth < path.count {
            guard let option = options.first(where: { $0.key == path[depth] }) else { return .unknown(depth: depth) }
            let kind = option.type.kind
            if kind.contains("device token") { return .tokens }
            // An option that may also be a URL shows the URL without its credentials.
            if kind.contains("reference") && !kind.contains("URL") || option.key == "headers" { return .reference }
            isShort = kind.hasSuffix(", or object")
            depth += 1
            // Names and positions of entries precede their members.
            depth += option.type.entry.count { $0 == "." || $0 == "[" }
            options = option.type.members
            // A value without declared members has a form of its own, such as a pattern.
            if options.isEmpty { return .open }
        }
        return isShort ? .open : .misplaced
    }
}
