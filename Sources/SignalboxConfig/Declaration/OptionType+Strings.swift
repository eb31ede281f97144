import Foundation
import SignalboxJSON
import SignalboxNotification

// Types whose values are strings in the config: texts, URLs, pointers, references, address ranges.

extension OptionType<String> {
    /// The schema of a string that is not empty.
    static var anyText: JSONNode { ["type": "string", "minLength": 1] }

    /// Any string that is not empty. Line ends are permitted.
    static var text: OptionType {
        OptionType(TypeInfo("string", anyText), write: { .string($0) }) { value, reader in reader.text(value) }
    }

    /// A string that logs and terminals show on one line. Rejects control characters.
    static var line: OptionType {
        OptionType(TypeInfo("string", anyText), write: { .string($0) }) { value, reader in reader.line(value) }
    }

    /// Any text on one line. Relative paths are resolved against the working directory. The file is not opened here.
    static var path: OptionType {
        var type = line
        type.info.kind = "path"
        return type
    }

    /// A device token or its hash, on one line. Shown to operators as a hash only.
    static var deviceToken: OptionType {
        var type = line
        type.info.kind = "device token"
        return type
    }

    /// 1 to 64 ASCII letters, digits, `.`, `_` and `-`. The name goes unescaped into URLs, labels of metrics and log
    /// lines.
    static var name: OptionType {
        string(
            "name", pattern: "^[A-Za-z0-9._-]{1,64}$", write: { .string($0) },
            expected: { _ in "this is not a name: \(NameRule.words)" }
        ) { NameRule.allows($0) ? $0 : nil }
    }

    /// An http or https URL. Errors do not show a URL that may contain a password. The text is kept as it is written.
    /// The address policy is applied later, to the resolved addresses.
    static var url: OptionType {
        let pattern: JSONNode = ##"^[Hh][Tt][Tt][Pp][Ss]?://[^\s\\#@/?]+([/?][^\s\\#]*)?$"##
        return OptionType(TypeInfo("URL", ["type": "string", "pattern": pattern]), write: { .string($0) }) {
            value, reader in
            guard let text = reader.text(value) else { return nil }
            if isURL(text) { return text }
            reader.note(
                url: value, "this must be an http or https URL with a host, and without spaces, user name or fragment")
            return nil
        }
    }

    /// The most bytes of a URL. RFC 9110, 4.1, recommends supporting at least this many.
    private static let longestURL = 8_000

    /// Accepts at most 8000 bytes of visible characters: a scheme of http or https, a host, an optional port, no
    /// userinfo and no fragment.
    static func isURL(_ text: String) -> Bool {
        // Foundation would escape characters that do not belong in a URL; the text is used unchanged.
        guard text.utf8.count <= longestURL,
            text.unicodeScalars.allSatisfy({
                !$0.properties.isWhitespace && !ConfigReader.isControl($0) && $0 != "\\"
            }),
            let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased()
        else { return false }
        return (1...65_535).contains(parts.port ?? 80) && (scheme == "http" || scheme == "https")
            && !(parts.host ?? "").isEmpty && parts.user == nil && parts.password == nil && parts.fragment == nil
    }
}

extension OptionType<JSONPointer> {
    /// RFC 6901, within ``ConfigBounds/pointerBytes`` and ``ConfigBounds/pointerKeys``. The empty pointer, which is
    /// the whole event, is valid.
    static var pointer: OptionType {
        string("JSON Pointer", pattern: "^(/([^~]|~[01])*)$", write: { .string($0.text) }) { text in
            let bounds = "with at most \(ConfigBounds.pointerBytes) bytes and \(ConfigBounds.pointerKeys) keys"
            return "\"\(text)\" is not a JSON Pointer; write it like \"/data/campaign/id\""
                + (JSONPointer(text) == nil ? "" : ", \(bounds)")
        } _: {
            ConfigReader.boundedPointer($0)
        }
    }
}

extension OptionType<SecretReference> {
    /// `env:NAME` or `file:/path`. The error never shows the value: it may be the secret itself. The secret is read
    /// later, by ``SecretResolver``.
    static var reference: OptionType {
        let info = TypeInfo("reference", ["type": "string", "pattern": "^(env|file):.+$"])
        return OptionType(info, hasSecret: true) { value, reader in
            let text = value.string.flatMap { ConfigReader.problem(ofLine: $0) == nil ? $0 : nil }
            if let reference = text.flatMap({ SecretReference($0) }) { return reference }
            reader.note(
                secret: value,
                "this must be a reference such as \"env:NAME\" or \"file:/path\"; the secret itself does not belong in the config"
            )
            return nil
        }
    }
}

extension OptionType<[SecretReference]> {
    /// A secret, or several while it is replaced.
    static var references: OptionType {
        OptionType<SecretReference>.reference.oneOrMore(
            of: "references", upTo: 5,
            orElse: "this must be one reference, or an array of 1 to 5 of them while a secret is being replaced")
    }
}

extension OptionType<[AddressRange]> {
    /// CIDR notation, IPv4 or IPv6; a single address is a range too.
    static var ranges: OptionType {
        let range = OptionType<AddressRange>.string("range", pattern: "^[0-9A-Fa-f.:]+(/[0-9]{1,3})?$") {
            "\"\($0)\" is not an address range; write it like 10.0.0.0/8 or fd00::/8, with no bits set after the prefix"
        } _: {
            AddressRange($0)
        }
        return range.list(of: "ranges")
    }
}

extension OptionType<[DestinationName]> {
    /// Names of declared destinations, at least one. The error suggests the nearest name. The name may be declared in
    /// any file of the config, before or after its use.
    static var destinations: OptionType {
        let name = OptionType<DestinationName>(TypeInfo("destination", OptionType<String>.anyText)) { value, reader in
            guard let text = reader.text(value) else { return nil }
            let known = reader.destinations
            if !known.contains(text) {
                reader.note(value, "there is no destination \"\(text)\"" + known.advice(for: text))
            }
            return DestinationName(text)
        }
        return name.list(
            of: "destinations", 1...ConfigBounds.entries, orElse: "this names no destination; name at least one")
    }
}
