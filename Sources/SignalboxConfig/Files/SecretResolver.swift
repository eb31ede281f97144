import Foundation
import SignalboxJSON
package import SignalboxNotification

/// Reads the secrets and checks the files that a config refers to. Errors name the file, the option and the reference,
/// never the secret.
///
/// Reads files at each call, so a reload sees replaced files. The environment of a process does not change: variables
/// that change are in `gateway.environmentFile`, which ``reading(_:)`` adds.
package struct SecretResolver: Sendable {
    /// The path of the config. Refusals begin with it if the files of the config are not known.
    private let path: String
    /// The files of the config, for the position of the option in refusals. Empty if they are not known.
    private var files: [ConfigText] = []
    /// The variables of the process.
    let environment: [String: String]
    /// The variables of references: those of the process, and those of a file.
    private var variables: [String: String]

    /// `path`: the path of the config, for messages. `environment`: the environment of the process when the resolver is
    /// made; later changes are not seen.
    package init(path: String, environment: [String: String] = ProcessInfo.processInfo.environment) {
        (self.path, self.environment) = (path, environment)
        variables = environment
    }

    /// This resolver with further variables for references, which take precedence.
    func adding(_ variables: [String: String]) -> SecretResolver {
        var resolver = self
        resolver.variables.merge(variables) { $1 }
        return resolver
    }

    /// Returns this resolver with the files that the config was read from.
    package func locating(in files: [ConfigText]) -> SecretResolver {
        var resolver = self
        resolver.files = files
        return resolver
    }

    /// A secret that was read. Does not hide its text when it is printed, so it never belongs in a log.
    package struct Secret: Sendable, Equatable {
        /// The secret without surrounding white space; never empty.
        package let text: String
        /// For messages, instead of the secret.
        package let reference: SecretReference
        /// JSON Pointer of the option.
        fileprivate let option: String
    }

    /// The secrets and TLS files of a webhook. Requests with equal values may share connections.
    package struct Webhook: Sendable, Equatable {
        /// The URL of the config, or the one that its reference leads to.
        package let url: String
        /// In the order of the config.
        package let signing: [Secret]
        /// Values in the order of `Destination.Webhook.headers`.
        package let headers: [String]
        /// Nil without `oauth2`.
        package let clientSecret: String?
        /// Contents of the files of `tls`.
        fileprivate let files: [Data]
    }

    /// The error for a secret that cannot be used. `problem`: a sentence about it without its full stop.
    package func refusal(of secret: Secret, _ problem: String) -> ConfigRefusal { refusal(secret.option, problem) }

    /// The tokens of all sources. Each source must have its own. Throws for a secret that cannot be read, and for a
    /// token that two sources share. A source without tokens has an empty list.
    package func sourceTokens(_ config: GatewayConfig) throws(ConfigRefusal) -> [SourceName: [String]] {
        var tokens: [SourceName: [String]] = [:]
        for (name, source) in config.sources {
            let option = "/sources/\(name)/auth/bearer"
            let own = try bearerTokens(source.bearer, option)
            if let other = tokens.first(where: { !Set($0.value).isDisjoint(with: own) }) {
                throw refusal(option, "this is also a token of \(other.key); each source needs its own")
            }
            tokens[name] = own
        }
        return tokens
    }

    /// A token of an operator, and its rights.
    package struct OperatorToken: Sendable, Equatable {
        /// `admin` for a token of `admin.auth`, otherwise its name in `admin.tokens`.
        package let name: String
        /// The rights of the token.
        package let role: OperatorRole
        /// Whether responses have the texts of notifications.
        package let content: Bool
        /// The token itself; a secret.
        package let text: String

        /// Takes the token as the config declares it, with its secret.
        package init(name: String, role: OperatorRole, content: Bool, text: String) {
            (self.name, self.role, self.content, self.text) = (name, role, content, text)
        }
    }

    /// The tokens of operators. `sources`: tokens that operators must not share. Empty without `admin`. Throws for a
    /// secret that cannot be read, and for a token that a source or a second name has too.
    package func operatorTokens(
        _ config: GatewayConfig, sources: [SourceName: [String]]
    ) throws(ConfigRefusal) -> [OperatorToken] {
        var tokens: [OperatorToken] = []
        for secret in try operatorSecrets(config) {
            if let source = sources.first(where: { $0.value.contains(secret.text) }) {
                throw refusal(
                    secret.option, "this is also a token of the source \(source.key); operators need their own")
            }
            // The action log must name the actor.
            if let other = tokens.first(where: { $0.text == secret.text && $0.name != secret.name }) {
                throw refusal(secret.option, "this is also the token of \"\(other.name)\"; each name needs its own")
            }
            tokens.append(
                OperatorToken(name: secret.name, role: secret.role, content: secret.content, text: secret.text))
        }
        return tokens
    }

    /// Every secret of `admin`, with its option. Those of `admin.auth` first, then by name. Throws for a secret that
    /// cannot be read.
    func operatorSecrets(
        _ config: GatewayConfig
    ) throws(ConfigRefusal) -> [(name: String, role: OperatorRole, content: Bool, option: String, text: String)] {
        let option = "/admin/auth/bearer"
        var found = try bearerTokens(config.admin.bearer, option).map {
            (name: "admin", role: OperatorRole.admin, content: true, option: option, text: $0)
        }
        for (name, token) in config.admin.tokens.sorted(by: { $0.key < $1.key }) {
            let option = "/admin/tokens/\(name)/bearer"
            found += try bearerTokens(token.bearer, option).map {
                (name: name, role: token.role, content: token.content, option: option, text: $0)
            }
        }
        return found
    }

    /// The secrets that sign links to stored files; none without `signedUrls`. Checks the TLS files of downloads too.
    /// Throws for a secret of fewer than 16 bytes.
    package func mediaSecrets(_ media: GatewayConfig.Media) throws(ConfigRefusal) -> [String] {
        _ = try tlsFiles(media.transport.tls, "/media/tls")
        let secrets = try secrets(media.signedUrls?.secrets ?? [], "/media/signedUrls/secret")
        let shortest = GatewayConfig.Media.SignedUrls.shortestSecret
        if let short = secrets.first(where: { $0.text.utf8.count < shortest }) {
            throw refusal(
                of: short,
                "\(short.reference) is shorter than \(shortest) bytes and could be guessed. "
                    + "Use the output of `openssl rand -base64 32`")
        }
        return secrets.map(\.text)
    }

    /// The secrets and files of a destination's webhook. Throws for the first secret or file that cannot be read, and
    /// for a header value that cannot be sent.
    package func webhook(_ webhook: Destination.Webhook, of name: DestinationName) throws(ConfigRefusal) -> Webhook {
        let option = "/destinations/\(name)"
        let files = try tlsFiles(webhook.transport.tls, option + "/tls")
        let signing = try secrets(webhook.secrets, option + "/secret")
        var headers: [String] = []
        for header in webhook.headers { headers.append(try value(of: header, "\(option)/headers/\(header.name)")) }
        let client = try secrets(webhook.credentials.map { [$0.clientSecret] } ?? [], option + "/oauth2/clientSecret")
        return Webhook(
            url: try url(of: webhook, option + "/url"), signing: signing, headers: headers,
            clientSecret: client.first?.text, files: files)
    }

    /// Throws for a reference that leads to no usable URL; the error never shows it.
    private func url(of webhook: Destination.Webhook, _ option: String) throws(ConfigRefusal) -> String {
        guard let reference = webhook.urlReference else { return webhook.url }
        let url = try texts([reference], option)[0]
        guard OptionType<String>.isURL(url) else {
            throw refusal(
                option, "\(reference) is not an http or https URL with a host, and without user name or fragment")
        }
        guard webhook.transport.tls == TransportOptions.TLS() || !url.lowercased().hasPrefix("http:") else {
            throw refusal(option, "\(reference) is an http URL; \"tls\" needs https")
        }
        return url
    }

    /// Throws for a secret that cannot be sent as a header.
    func value(of header: Destination.Header, _ option: String) throws(ConfigRefusal) -> String {
        switch header.value {
        case .text(let text): return text
        case .secret(let reference):
            let text = try texts([reference], option)[0]
            guard Destination.Header.allows(text) else {
                throw refusal(option, "\(reference) is not a valid header value: use one line of visible ASCII")
            }
            return text
        }
    }

    /// The most bytes of a TLS file; the authorities of a whole system have less than 1 MiB.
    static let largestFile = 4 << 20

    /// The contents of the files of `tls`. An unreadable one would fail every request later. In the order `ca`,
    /// `certificate`, `key`, without those that are not set. Throws for a file of more than ``largestFile`` bytes. The
    /// content is not checked.
    func tlsFiles(_ tls: TransportOptions.TLS, _ option: String) throws(ConfigRefusal) -> [Data] {
        var contents: [Data] = []
        for (key, file) in [("ca", tls.authorities), ("certificate", tls.certificate), ("key", tls.key)] {
            guard let file else { continue }
            let bytes = try beginning(of: file, upTo: Self.largestFile + 1, "\(option)/\(key)")
            guard bytes.count <= Self.largestFile else {
                throw refusal("\(option)/\(key)", "the file \(file) is larger than 4 MiB; it should contain PEM")
            }
            contents.append(Data(bytes))
        }
        return contents
    }

    /// Throws like ``secrets(_:_:)``.
    private func texts(_ references: [SecretReference], _ option: String) throws(ConfigRefusal) -> [String] {
        try secrets(references, option).map(\.text)
    }

    /// Throws like ``secrets(_:_:)``, and for a token with a line end or another control character: no client can send
    /// it in a header, so a file with a token on each line would reject the clients of all of them.
    private func bearerTokens(_ references: [SecretReference], _ option: String) throws(ConfigRefusal) -> [String] {
        let secrets = try secrets(references, option)
        if let secret = secrets.first(where: { $0.text.utf8.contains { $0 < 0x20 || $0 == 0x7F } }) {
            throw refusal(
                of: secret,
                "\(secret.reference) has a control character or several lines, which no client can send; name a "
                    + "reference for each token")
        }
        return secrets.map(\.text)
    }

    /// Throws for the first secret that cannot be read; `option` locates it in the config.
    func secrets(_ references: [SecretReference], _ option: String) throws(ConfigRefusal) -> [Secret] {
        try references.map { reference throws(ConfigRefusal) in try secret(reference, option) }
    }

    /// Throws for a secret that cannot be read; `option` locates it in the config.
    /// `limit`: the most bytes of a file.
    func secret(
        _ reference: SecretReference, _ option: String, upTo limit: Int = SecretReference.largestFile
    ) throws(ConfigRefusal) -> Secret {
        do throws(UnresolvedSecret) {
            return Secret(
                text: try reference.resolve(environment: variables, upTo: limit), reference: reference, option: option)
        } catch {
            throw refusal(option, error.description)
        }
    }

    /// The first bytes of a file that an option names. Throws for a file that cannot be read, with the reason.
    func beginning(of path: String, upTo most: Int, _ option: String) throws(ConfigRefusal) -> [UInt8] {
        do throws(UnreadableFile) { return try ConfigText.contents(of: path, upTo: most) } catch {
            throw refusal(option, "the file \(path) cannot be read: \(error.reason)")
        }
    }

    /// The error names the file, the position and the option.
    func refusal(_ option: String, _ problem: String) -> ConfigRefusal {
        ConfigRefusal("\(place(of: option)): \(option): \(problem).")
    }

    /// `routes.d/crm.json:3:40`, in the file that declares the source or destination of the option. The option may be
    /// the name of a header in lower case; then the position is that of all headers.
    private func place(of option: String) -> String {
        let owner = "/" + option.split(separator: "/").prefix(2).joined(separator: "/")
        guard let file = files.index(declaring: owner).map({ files[$0] }) ?? files.first,
            let place = JSONPosition(of: option, in: file.bytes)
        else { return path }
        let position = TextPosition(offset: place.value.lowerBound, in: file.bytes)
        return "\(file.name):\(position.line):\(position.column)"
    }
}
