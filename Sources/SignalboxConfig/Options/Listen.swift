import SignalboxJSON
import SignalboxNotification

extension GatewayConfig {
    /// The addresses that the gateway listens on, as texts that ``hostAndPort(of:)`` reads.
    package struct Listen: Sendable, Equatable {
        /// The API and the FCM endpoints; nil for the default.
        package var http: String?
        /// The provider endpoints over HTTP/2 and HTTP/1.1; nil for none.
        package var apns: String?
        /// The proxy to the provider endpoints; nil for none.
        package var proxy: String?
        /// The certificate of the provider endpoints; nil for connections without TLS.
        package var tls: TLS?

        /// Takes the addresses as written, and the certificate of the listener for providers.
        package init(http: String? = nil, apns: String? = nil, proxy: String? = nil, tls: TLS? = nil) {
            (self.http, self.apns, self.proxy, self.tls) = (http, apns, proxy, tls)
        }

        /// The parts of `127.0.0.1:8080`, `[::1]:8080`, `localhost:0` or `:8080`, whose host is empty; nil for other
        /// text. Text in brackets must be an IPv6 address; other hosts are not checked further.
        package static func hostAndPort(of text: String) -> (host: String, port: UInt16)? {
            guard let colon = text.lastIndex(of: ":") else { return nil }
            let digits = text[text.index(after: colon)...]
            guard digits.utf8.allSatisfy(\.isDigit), let port = UInt16(digits) else { return nil }
            var host = String(text[..<colon])
            if host.hasPrefix("["), host.hasSuffix("]") {
                host = String(host.dropFirst().dropLast())
                guard IPAddress(host)?.isIPv6 == true else { return nil }
            } else if host.contains(":") || host.contains(" ") {
                return nil
            }
            return (host, port)
        }

        /// PEM texts, by reference. The gateway reads them at each reload.
        package struct TLS: Sendable, Equatable {
            /// The server's certificate and its chain.
            package var certificate: SecretReference
            /// The private key of the certificate, in PEM.
            package var key: SecretReference
            /// Authorities whose client certificates identify senders; nil for none.
            package var clientCA: SecretReference?

            /// Takes references to PEM texts. `clientCA`: nil to ask clients for no certificate.
            package init(certificate: SecretReference, key: SecretReference, clientCA: SecretReference? = nil) {
                (self.certificate, self.key, self.clientCA) = (certificate, key, clientCA)
            }

            /// The files among the references. A renewed certificate counts as a change of the config.
            var files: [String] {
                [certificate, key, clientCA].compactMap { reference in
                    if case .file(let path)? = reference { path } else { nil }
                }
            }
        }
    }
}

extension OptionType<GatewayConfig.Listen> {
    /// A text is the address of the HTTP listener; an object names all listeners.
    static var listen: OptionType {
        let object = OptionType.section(GatewayConfig.Listen.options)
        var info = TypeInfo(
            "address, or object", ["anyOf": [OptionType<String>.anyText, object.info.schema]],
            members: object.info.members)
        info.limits = object.info.limits
        return OptionType(info) { value, reader in
            guard !value.isObject else { return object.read(value, &reader) }
            return OptionType<String>.address.read(value, &reader).map { GatewayConfig.Listen(http: $0) }
        }
    }
}

extension OptionType<String> {
    /// An address that ``GatewayConfig/Listen/hostAndPort(of:)`` reads. Whether the gateway can listen on it shows at
    /// the start only.
    fileprivate static var address: OptionType {
        OptionType(TypeInfo("string", anyText), write: { .string($0) }) { value, reader in
            guard let text = reader.line(value) else { return nil }
            if GatewayConfig.Listen.hostAndPort(of: text) != nil { return text }
            reader.note(value, "this must be an address with a port, such as \"127.0.0.1:8080\" or \"[::1]:8080\"")
            return nil
        }
    }
}

extension GatewayConfig.Listen {
    /// The proxy requires `tls`. The provider endpoints require it on other addresses than loopback, which is checked
    /// when they are known.
    fileprivate static let options = Section(GatewayConfig.Listen(), rules: rules) {
        Option(
            "http", \.http, .address,
            "The address of the API. `--listen` and `SIGNALBOX_LISTEN` override it. Default: `127.0.0.1:8080`.")
        Option(
            "apns", \.apns, .address,
            "The address of the provider endpoints over HTTP/2 and HTTP/1.1. Without `tls`, it must be on loopback.")
        Option(
            "proxy", \.proxy, .address,
            "The address of an HTTPS proxy that leads the hosts of push services to the provider endpoints. Needs `tls` "
                + "with a certificate for these hosts, as `signalbox certs new` makes it.")
        Option("tls", \.tls, TLS.type, "The certificate of the provider endpoints.")
    } check: { _, value, reader in
        if let tls = value["tls"], reader.lacks("apns", in: value), reader.lacks("proxy", in: value) {
            reader.note(tls, "nothing listens with TLS; add \"apns\" or \"proxy\" next to it")
        }
        if let proxy = value["proxy"], reader.lacks("tls", in: value) {
            reader.note(
                proxy,
                "the proxy needs \"tls\" next to it, with a certificate for the hosts of push services; make one with "
                    + "`signalbox certs new`")
        }
    }

    /// The same as the check.
    private static let rules: JSONNode = [
        "dependentRequired": ["proxy": ["tls"]],
        "dependentSchemas": ["tls": ["anyOf": [["required": ["apns"]], ["required": ["proxy"]]]]],
    ]
}

extension GatewayConfig.Listen.TLS {
    /// The options while they are read.
    private struct Partial: Sendable {
        var certificate: SecretReference?
        var key: SecretReference?
        var clientCA: SecretReference?
    }

    /// Both references of the server are required; that of the clients' authorities is not.
    private static let options = Section(Partial()) {
        Option(
            "certificate", \.certificate, .reference, required: missing,
            "The server's certificate with its chain, in PEM.")
        Option("key", \.key, .reference, required: missing, "The key of the certificate, in PEM.")
        Option("clientCA", \.clientCA, .reference, "Authorities, in PEM, whose client certificates identify senders.")
    }

    /// Nil without certificate and key, which the section reports.
    fileprivate static let type: OptionType<GatewayConfig.Listen.TLS> = {
        let partial = OptionType<Partial>.section(options)
        return OptionType<GatewayConfig.Listen.TLS>(partial.info) { value, reader in
            guard let tls = partial.read(value, &reader), let certificate = tls.certificate, let key = tls.key else {
                return nil
            }
            return .init(certificate: certificate, key: key, clientCA: tls.clientCA)
        }
    }()

    /// The error for either of both references.
    private static let missing =
        "this needs a \"certificate\" and its \"key\", such as \"file:server.crt\" and \"file:server.key\""
}
