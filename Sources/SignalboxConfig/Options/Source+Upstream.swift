import Foundation
import SignalboxJSON
package import SignalboxNotification

extension GatewayConfig {
    /// The forwarding of a source's pushes to the real push service, after their events are stored.
    package struct Upstream: Sendable, Equatable {
        /// Selects the pushes to forward.
        package var mode = Mode.capture
        /// `http://` or `https://host[:port]` instead of Apple's hosts; nil for those.
        package var apns: String?
        /// `http://` or `https://host[:port]` instead of Google's host; nil for that.
        package var fcm: String?
        /// From the start of a forwarded request to the last byte of its response.
        package var timeout: Duration = .seconds(10)
        /// The most forwarded requests in progress. Further pushes receive 503.
        package var concurrency = 1000
        /// The device tokens that ``Mode/only`` forwards.
        package var tokens: [TokenReference] = []
        /// TLS and proxy of forwarded requests.
        package var transport = TransportOptions()

        /// Raw values are those of the config.
        package enum Mode: String, Sendable, CaseIterable {
            /// None: the gateway answers.
            case capture
            /// All: the push service answers.
            case tee
            /// Pushes to listed devices; the gateway answers the others.
            case only
        }

        /// Names one device token, or a file that names several.
        package enum TokenReference: Sendable, Equatable {
            /// `sha256:` and 64 digits, as events name the token.
            case hash(String)
            /// A file with one hash a line. Lines that are empty or begin with `#` do not count.
            case file(String)

            /// Nil for other text. Hexadecimal digits are in lower case, as in events.
            package init?(hash text: Substring) {
                let digits = text.dropFirst("sha256:".count)
                guard text.hasPrefix("sha256:"), digits.utf8.count == 64,
                    digits.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
                else { return nil }
                self = .hash(String(text))
            }
        }

        /// Files of the options. A change of one counts as a change of the config.
        var files: [String] { tokens.compactMap { if case .file(let path) = $0 { path } else { nil } } }
    }
}

// MARK: Options

extension GatewayConfig.Upstream {
    private static let needsTokens = "mode \"only\" needs \"tokens\", the devices whose pushes are forwarded"

    /// `tokens` and the mode `only` require each other.
    static let options = Section(GatewayConfig.Upstream()) {
        Option(
            "mode", \.mode, .choice(expected: "this must be \"capture\", \"tee\" or \"only\""),
            "The pushes to forward. `capture`: none, the gateway answers. `tee`: every push, and the sender receives the push service's answer. `only`: those to `tokens`; the gateway answers the others."
        )
        Option(
            "apns", \.apns, origin,
            "Push service for requests to the APNs endpoint. Default: Apple's, its sandbox for a source with `apns.development` and for requests to a sandbox host."
        )
        Option("fcm", \.fcm, origin, "Push service for requests to the FCM endpoint. Default: Google's.")
        Option(
            "timeout", \.timeout, .duration(from: "10ms", to: "60s", example: "10s"),
            "From the start of a forwarded request to the last byte of its response.")
        Option(
            "concurrency", \.concurrency, .whole(1...100_000),
            "Forwarded requests in progress. Further pushes receive 503.")
        Option(
            "tokens", \.tokens,
            token.list(
                of: "device tokens or files", 1...10_000,
                orElse: "this must be an array of 1 to 10000 hashes of device tokens, or files of them"),
            "Device tokens for `only`: `sha256:` and 64 digits, as events name them, or `file:PATH` of a file with one a line."
        )
        Option("tls", \.transport.tls, .section(TransportOptions.TLS.options), "TLS of forwarded requests.")
        Option("proxy", \.transport.proxy, TransportOptions.Proxy.type, "The HTTP proxy of forwarded requests.")
    } check: { upstream, value, reader in
        if upstream.mode == .only, reader.lacks("tokens", in: value) { reader.note(value, needsTokens) }
        if upstream.mode != .only, !reader.mistaken.contains("mode"), let tokens = value.member("tokens") {
            reader.note(tokens, "\"tokens\" applies to mode \"only\"; change the mode, or leave them out")
        }
    }

    /// Scheme, host and port of a URL, without a slash after them.
    private static let origin = OptionType<String>(
        TypeInfo("URL", ["type": "string", "pattern": ##"^[Hh][Tt][Tt][Pp][Ss]?://[^\s\\#@/?]+/?$"##])
    ) { value, reader in
        guard let text = OptionType<String>.url.read(value, &reader) else { return nil }
        let parts = URLComponents(string: text)
        guard parts?.query == nil, ["", "/"].contains(parts?.path) else {
            reader.note(value, "this must be a URL without a path or query, such as \"https://api.push.apple.com\"")
            return nil
        }
        return text.hasSuffix("/") ? String(text.dropLast()) : text
    }

    /// The error does not show the value: it may be a device token.
    private static let token = OptionType<TokenReference>(
        TypeInfo("hash or file", ["type": "string", "pattern": "^(sha256:[0-9a-f]{64}|file:.+)$"])
    ) { value, reader in
        if let text = value.string {
            if let hash = TokenReference(hash: text[...]) { return hash }
            if case .file(let path)? = SecretReference(text), ConfigReader.problem(ofLine: text) == nil {
                return .file(path)
            }
        }
        reader.note(
            secret: value,
            "this must be the hash of a device token, \"sha256:\" and 64 digits as events show it, or \"file:PATH\"")
        return nil
    }
}
