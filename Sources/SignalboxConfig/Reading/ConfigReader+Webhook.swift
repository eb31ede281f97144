import Foundation
import SignalboxJSON
import SignalboxNotification

/// What a webhook demands of those who send to it: headers, tokens, TLS, a proxy.
extension ConfigReader {
    static let accessKeys = ["headers", "tls", "proxy", "oauth2"]

    mutating func access(_ value: JSONValue, of webhook: inout Destination.Webhook) {
        if let headers = value["headers"] { webhook.headers = self.headers(headers) }
        if let tls = value["tls"] {
            webhook.transport.tls = self.tls(tls)
            if webhook.url.lowercased().hasPrefix("http:") {
                note(tls, "the \"url\" is http, which knows no TLS; write https, or leave \"tls\" out")
            }
        }
        if let proxy = value["proxy"] { webhook.transport.proxy = self.proxy(proxy) }
        guard let oauth2 = value["oauth2"] else { return }
        webhook.credentials = credentials(oauth2)
        if webhook.headers.contains(where: { $0.name == "authorization" }) {
            note(oauth2, "this sets the header \"authorization\", which stands under \"headers\" too; remove one")
        }
    }

    // MARK: Headers

    private mutating func headers(_ value: JSONValue) -> [Destination.Header] {
        guard value.isObject else {
            note(value, "this must be an object, in braces, with a value for each header")
            return []
        }
        guard hasAtMost(32, "headers", in: value) else { return [] }
        var headers: [Destination.Header] = []
        for (name, member) in value.members {
            let name = String(decoding: name, as: UTF8.self).lowercased()
            if headers.contains(where: { $0.name == name }) { note(keyOf: member, Self.repeated(name)) }
            if let header = header(name, member) { headers.append(header) }
        }
        return headers
    }

    private mutating func header(_ name: String, _ value: JSONValue) -> Destination.Header? {
        if name.isEmpty || !name.utf8.allSatisfy(Self.isTokenByte) {
            note(value, "this is no name of a header: letters, digits and !#$%&'*+-.^_`|~ make one")
        } else if Self.isOwn(name) {
            note(value, "the gateway sets the header \"\(name)\" itself, or HTTP does; remove it")
        }
        guard let text = value.string else {
            note(value, "this must be a string")
            return nil
        }
        if text.hasPrefix("env:") || text.hasPrefix("file:") || Self.isSecret(name) {
            return secret(value).map { Destination.Header(name: name, value: .secret($0)) }
        }
        if !Destination.Header.allows(text) {
            note(value, "a header's value is 1 to 8192 visible ASCII characters, with blanks between them only")
        }
        return Destination.Header(name: name, value: .text(text))
    }

    /// RFC 9110, 5.6.2.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    /// Headers that mean something to a webhook's receiver, or to HTTP, that a config must not change.
    private static func isOwn(_ name: String) -> Bool {
        let own = [
            "connection", "content-encoding", "content-length", "content-type", "date", "expect", "host", "keep-alive",
            "te", "traceparent", "tracestate", "trailer", "transfer-encoding", "upgrade", "user-agent",
        ]
        return own.contains(name) || ["webhook-", "proxy-", "ce-", "signalbox-"].contains { name.hasPrefix($0) }
    }

    /// Whether a header's value is, by its name, nothing that belongs in a config.
    private static func isSecret(_ name: String) -> Bool {
        ["auth", "cookie", "key", "password", "secret", "token"].contains { name.contains($0) }
    }

    // MARK: TLS and proxy

    mutating func tls(_ value: JSONValue) -> TransportOptions.TLS {
        var tls = TransportOptions.TLS()
        guard isObject(value, keys: ["ca", "certificate", "key", "pin", "minimum"]) else { return tls }
        tls.authorities = value["ca"].flatMap { line($0) }
        tls.certificate = value["certificate"].flatMap { line($0) }
        tls.key = value["key"].flatMap { line($0) }
        if let key = value["key"], value["certificate"] == nil {
            note(key, "a key needs its \"certificate\" beside it")
        }
        if let pin = value["pin"] { tls.pins = pins(pin) }
        if let minimum = value["minimum"] {
            if let version = minimum.string.flatMap({ TransportOptions.Version(rawValue: $0) }) {
                tls.minimum = version
            } else {
                note(minimum, "this must be \"1.2\" or \"1.3\"; nothing older is spoken")
            }
        }
        return tls
    }

    private mutating func pins(_ value: JSONValue) -> [String] {
        let entries = value.isArray ? Array(value.elements.prefix(6)) : [value]
        if !(1...5).contains(entries.count) {
            note(value, "this must be one pin, or an array of 1 to 5 of them, any of which is good")
        }
        return entries.compactMap { pin($0) }
    }

    private mutating func pin(_ value: JSONValue) -> String? {
        guard let text = value.string, text.hasPrefix("sha256//"),
            Data(base64Encoded: String(text.dropFirst("sha256//".count)))?.count == 32
        else {
            note(value, "this must be \"sha256//\" and the base64 of the SHA-256 of the server's public key")
            return nil
        }
        return text
    }

    mutating func proxy(_ value: JSONValue) -> TransportOptions.Proxy {
        if value.equals("environment") { return .environment }
        guard let text = value.string, Self.isWebAddress(text) else {
            note(
                url: value, value.string ?? "",
                "this must be the http or https URL of a proxy, without user name and password, or \"environment\"")
            return .none
        }
        return .address(text)
    }

    // MARK: Access tokens

    private mutating func credentials(_ value: JSONValue) -> Destination.ClientCredentials? {
        guard isObject(value, keys: ["tokenUrl", "clientId", "clientSecret", "scope"]) else { return nil }
        for key in ["tokenUrl", "clientId", "clientSecret"] where value.member(key) == nil {
            note(value, "client credentials need a \"\(key)\"")
        }
        let url = value["tokenUrl"].flatMap { webAddress($0) }
        let id = value["clientId"].flatMap { line($0) }
        let secret = value["clientSecret"].flatMap { self.secret($0) }
        let scope = value["scope"].flatMap { line($0) }
        guard let url, let id, let secret else { return nil }
        return Destination.ClientCredentials(tokenURL: url, clientID: id, clientSecret: secret, scope: scope)
    }
}
