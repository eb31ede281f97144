import Foundation
import SignalboxJSON
import SignalboxNotification

/// TLS of one client: a destination, or the downloads. Files are opened when the config becomes active, not here.
extension TransportOptions.TLS {
    /// Rejects a key without a certificate. The system's authorities stay trusted.
    static let options = Section(TransportOptions.TLS(), rules: ["dependentRequired": ["key": ["certificate"]]]) {
        Option("ca", \.authorities, .path, "A PEM file of authorities to trust in addition to the system's.")
        Option("certificate", \.certificate, .path, "A PEM file with the client certificate and its chain (mTLS).")
        Option(
            "key", \.key, .path,
            "A PEM file with the certificate's key. Without it, the certificate's file has the key too.")
        Option(
            "pin", \.pins,
            pin.oneOrMore(
                of: "pins", upTo: 5,
                orElse: "this must be one pin, or an array of 1 to 5 pins, one of which must match"),
            "The server must have one of these public keys: `sha256//` and the Base64 of the key's SHA-256."
        )
        Option(
            "minimum", \.minimum,
            .choice(expected: "this must be \"1.2\" or \"1.3\"; older TLS versions are not supported"),
            "The oldest TLS version to use.")
    } check: { _, value, reader in
        if let key = value["key"], reader.lacks("certificate", in: value) {
            reader.note(key, "a key needs its \"certificate\" next to it")
        }
    }

    /// The form of curl's `--pinnedpubkey`: Base64 of exactly 32 bytes.
    private static let pin = OptionType<String>.value(
        TypeInfo("pin", ["type": "string", "pattern": "^sha256//[A-Za-z0-9+/]{43}=$"]),
        expected: "this must be \"sha256//\" and the base64 of the SHA-256 of the server's public key"
    ) { value in
        guard let text = value.string, text.hasPrefix("sha256//") else { return nil }
        return Data(base64Encoded: String(text.dropFirst("sha256//".count)))?.count == 32 ? text : nil
    }
}

/// The proxy of one client. Without the option, connections are direct; variables of the environment have no effect.
extension TransportOptions.Proxy {
    /// `environment` reads the usual variables, such as `https_proxy`. Errors hide a URL that may contain a password.
    static let type = OptionType<TransportOptions.Proxy>(
        TypeInfo("URL, or `environment`", ["anyOf": [["const": "environment"], OptionType<String>.url.info.schema]])
    ) { value, reader in
        if value.equals("environment") { return .environment }
        if let text = value.string, OptionType<String>.isURL(text) { return .address(text) }
        reader.note(
            url: value,
            "this must be the http or https URL of a proxy, without user name and password, or \"environment\"")
        return nil
    }
}
