import SignalboxJSON

// The access that a webhook requires: permission, headers and tokens.

extension Destination {
    /// A request for permission to send (CloudEvents, HTTP 1.1 Web Hooks for Event Delivery, 4).
    package struct Handshake: Sendable, Equatable {
        /// A DNS name for the whole gateway.
        package var origin = ""
        /// Requests a minute to ask for; nil asks for none.
        package var perMinute: Int?
        /// How long a granted permission is valid.
        package var age: Duration = .seconds(86_400)

        /// An empty origin stands for the one of the gateway, which the reader of the config fills in.
        package init(origin: String = "", perMinute: Int? = nil) {
            (self.origin, self.perMinute) = (origin, perMinute)
        }

        /// True for letters, digits, `-`, `_` and `.`, as in names of hosts.
        static func allows(origin: String) -> Bool {
            (1...253).contains(origin.utf8.count)
                && origin.unicodeScalars.allSatisfy { scalar in
                    switch scalar {
                    case "a"..."z", "A"..."Z", "0"..."9", "-", "_", ".": true
                    default: false
                    }
                }
        }
    }

    /// A header of every request to a webhook.
    package struct Header: Sendable, Equatable {
        /// In lower case.
        package let name: String
        /// In the config itself, or a reference to a secret.
        package let value: Value

        /// Header names that suggest a secret require a reference.
        package enum Value: Sendable, Equatable {
            /// Part of the config, so not a secret.
            case text(String)
            /// Read when the config becomes active.
            case secret(SecretReference)
        }

        /// Whether the value is a reference.
        package var isSecret: Bool { if case .secret = value { true } else { false } }

        /// True for 1 to 8192 bytes of visible ASCII, with spaces in between only, and without line ends.
        static func allows(_ value: String) -> Bool {
            let bytes = value.utf8
            return !bytes.isEmpty && bytes.count <= 8192 && bytes.first != 0x20 && bytes.last != 0x20
                && bytes.allSatisfy { (0x20...0x7E).contains($0) }
        }
    }

    /// OAuth 2.0's client credentials grant (RFC 6749, 4.4).
    package struct ClientCredentials: Sendable, Equatable {
        /// The token endpoint of the authorization server.
        package var tokenURL: String
        /// The `client_id` that the server assigned.
        package var clientID: String
        /// Read from its reference when the config becomes active.
        package var clientSecret: SecretReference
        /// Scopes with spaces between them; nil for those that the server assigns by default.
        package var scope: String?

        /// Does not check the values.
        package init(tokenURL: String, clientID: String, clientSecret: SecretReference, scope: String? = nil) {
            self.tokenURL = tokenURL
            self.clientID = clientID
            self.clientSecret = clientSecret
            self.scope = scope
        }
    }
}

// MARK: Options

extension Destination.Handshake {
    /// `true` requests permission with all defaults, `false` and an omitted option request none.
    static var type: OptionType<Destination.Handshake?> {
        let object = OptionType.section(options)
        let schema: JSONNode = ["anyOf": [["type": "boolean"], object.info.schema]]
        return OptionType(
            TypeInfo("`true`, `false`, or object", schema, members: object.info.members),
            write: { $0 == nil ? false : nil }
        ) { value, reader in
            if let isRequired = value.bool { return .some(isRequired ? Destination.Handshake() : nil) }
            if value.isObject { return object.read(value, &reader) }
            reader.note(value, "write true, or an object with an \"origin\", a \"rate\" or an \"age\", or leave it out")
            return nil
        }
    }

    /// Defaults that depend on other options are filled in after all files have been read.
    private static let options = Section(Destination.Handshake()) {
        Option(
            "origin", \.origin, hostName,
            "The name that asks. Default: the host of `gateway.publicUrl`, otherwise `gateway.name`.")
        Option(
            "rate", \.perMinute, OptionType<Double>.rate.map { perMinute($0) },
            "The rate to ask for. Default: the `rate` of the destination; without one, no rate.")
        Option("age", \.age, .duration(from: "1s", to: "365d", example: "24h"), "How long a permission is valid.")
    }

    /// Names without dots are accepted, because `gateway.name` may have none.
    private static let hostName = OptionType<String>.string("host name", pattern: "^[A-Za-z0-9._-]{1,253}$") { _ in
        "an origin must have 1 to 253 letters, digits, -, _ or ., such as \"gateway.example.com\""
    } _: {
        allows(origin: $0) ? $0 : nil
    }

    /// Rounds fractions up: a lower rate would not suffice for the deliveries. A whole rate that became a fraction
    /// by the division into seconds stays whole.
    static func perMinute(_ perSecond: Double) -> Int {
        let rate = perSecond * 60
        let whole = rate.rounded()
        return Int(abs(rate - whole) <= whole * 1e-12 ? whole : rate.rounded(.up))
    }
}

extension Destination.Header {
    /// At most 32 headers, in the order of the config, with names in lower case.
    static let type = OptionType<[Destination.Header]>(
        TypeInfo(
            "object", limits: "at most \(names.most) headers",
            [
                "type": "object", "maxProperties": .integer(names.most),
                "additionalProperties": ["type": "string", "minLength": 1],
            ])
    ) { value, reader in
        reader.entries(of: value, by: names)?.compactMap { read($0, $1, &reader) }
    }

    /// Names that differ in case only are repeats (RFC 9110, 5.1).
    private static let names = KeyRule(
        entries: "a value for each header", plural: "headers", most: 32, isCaseInsensitive: true
    ) { name in
        if name.isEmpty || !name.utf8.allSatisfy(isTokenByte) {
            return "this is not a header name: letters, digits and !#$%&'*+-.^_`|~ make one"
        }
        return isReserved(name) ? "the gateway sets the header \"\(name)\" itself, or HTTP does; remove it" : nil
    }

    /// A value that looks like a reference is a reference. Errors about it never show the value. Nil, with an error,
    /// for another type and for an invalid reference.
    private static func read(_ name: String, _ value: JSONValue, _ reader: inout ConfigReader) -> Destination.Header? {
        guard let text = value.string else {
            if isSecret(name) {
                reader.note(secret: value, "this must be a string")
            } else {
                reader.note(value, "this must be a string")
            }
            return nil
        }
        if text.hasPrefix("env:") || text.hasPrefix("file:") || isSecret(name) {
            let reference = OptionType<SecretReference>.reference.read(value, &reader)
            return reference.map { Destination.Header(name: name, value: .secret($0)) }
        }
        if !allows(text) { reader.note(value, invalid) }
        return Destination.Header(name: name, value: .text(text))
    }

    /// True for a name that a config may set, in lower case.
    static func allows(name: String) -> Bool {
        !name.isEmpty && name.utf8.allSatisfy(isTokenByte) && !isReserved(name)
    }

    /// The error for a value that cannot be sent.
    static let invalid = "a header's value is 1 to 8192 visible ASCII characters, with spaces between them only"

    /// A byte of a token (RFC 9110, 5.6.2), with letters in lower case only.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    /// True for headers of HTTP, and of the gateway's own protocol, which a config must not set. `name`: in lower
    /// case.
    private static func isReserved(_ name: String) -> Bool {
        let reserved = [
            "connection", "content-encoding", "content-length", "content-type", "date", "expect", "host", "keep-alive",
            "te", "traceparent", "tracestate", "trailer", "transfer-encoding", "upgrade", "user-agent",
        ]
        return reserved.contains(name) || ["webhook-", "proxy-", "ce-", "signalbox-"].contains { name.hasPrefix($0) }
    }

    /// True if the name suggests a secret, which does not belong in a config. A guess by parts of the name: such
    /// headers need a reference.
    private static func isSecret(_ name: String) -> Bool {
        ["auth", "cookie", "key", "password", "secret", "token"].contains { name.contains($0) }
    }
}

extension Destination.ClientCredentials {
    /// The grant sends the client's identifier and secret to `tokenUrl` only.
    static let options = Section(
        Destination.ClientCredentials(tokenURL: "", clientID: "", clientSecret: .environment(""))
    ) {
        Option(
            "tokenUrl", \.tokenURL, .url, required: "client credentials need a \"tokenUrl\"",
            "The URL of the authorization server's token endpoint.")
        Option(
            "clientId", \.clientID, .line, required: "client credentials need a \"clientId\"",
            "The client's identifier.")
        Option(
            "clientSecret", \.clientSecret, .reference, required: "client credentials need a \"clientSecret\"",
            "The client's secret.")
        Option("scope", \.scope, .line, "Scopes to ask for, separated by spaces.")
    }
}
