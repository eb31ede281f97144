import Foundation
import SignalboxConfig
import SignalboxEgress
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification

/// A config read from a file, and all that is made of it, or why it cannot be used.
enum ConfigFile {
    /// The chain that a config asks for.
    static func chain(_ config: GatewayConfig) throws(ConfigRefusal) -> VendorChain {
        do throws(UnknownDetector) {
            return try VendorChain(named: config.chain, custom: config.customDetectors.map { Catalogue($0) })
        } catch {
            throw ConfigRefusal(
                "detectors.chain names \(error.name); known are \(error.known.joined(separator: ", ")).")
        }
    }

    /// The tokens of all sources.
    static func tokens(_ config: GatewayConfig, path: String) throws(ConfigRefusal) -> [SourceName: [String]] {
        var tokens: [SourceName: [String]] = [:]
        for (name, source) in config.sources {
            tokens[name] = []
            for reference in source.bearer {
                let token = try secret(reference, for: "/sources/\(name)/auth/bearer", path: path)
                if let other = tokens.first(where: { $0.key != name && $0.value.contains(token) }) {
                    throw ConfigRefusal(
                        "\(path): /sources/\(name)/auth/bearer: this is also a token of \(other.key); each source needs its own."
                    )
                }
                tokens[name]?.append(token)
            }
        }
        return tokens
    }

    /// The tokens that let operators in; none of them may be a source's.
    static func adminTokens(
        _ config: GatewayConfig, sources: [SourceName: [String]], path: String
    ) throws(ConfigRefusal) -> [String] {
        var tokens: [String] = []
        for reference in config.adminBearer {
            let token = try secret(reference, for: "/admin/auth/bearer", path: path)
            if let source = sources.first(where: { $0.value.contains(token) }) {
                throw ConfigRefusal(
                    "\(path): /admin/auth/bearer: this is also a token of the source \(source.key); operators need their own."
                )
            }
            tokens.append(token)
        }
        return tokens
    }

    /// The keys that a webhook is signed with.
    static func keys(
        of webhook: Destination.Webhook, named name: DestinationName, path: String
    ) throws(ConfigRefusal) -> WebhookKeys {
        let place = "/destinations/\(name)/secret"
        var keys: [WebhookKey] = []
        for reference in webhook.secrets {
            let text = try secret(reference, for: place, path: path)
            let key: WebhookKey
            do throws(InvalidWebhookKey) {
                key = try WebhookKey(text)
            } catch {
                throw ConfigRefusal("\(path): \(place): \(error) (it comes from \(reference)).")
            }
            guard key.canSign else {
                throw ConfigRefusal(
                    "\(path): \(place): \(reference) is a public key, which cannot sign; use the whsk_ key.")
            }
            keys.append(key)
        }
        return WebhookKeys(keys)
    }

    /// The headers that a webhook's requests bear besides the gateway's own.
    static func headers(
        of webhook: Destination.Webhook, named name: DestinationName, path: String
    ) throws(ConfigRefusal) -> [(name: String, value: String)] {
        var headers: [(name: String, value: String)] = []
        for header in webhook.headers {
            switch header.value {
            case .text(let text): headers.append((header.name, text))
            case .secret(let reference):
                let place = "/destinations/\(name)/headers/\(header.name)"
                let value = try secret(reference, for: place, path: path)
                guard Destination.Header.allows(value) else {
                    throw ConfigRefusal(
                        "\(path): \(place): \(reference) is not a valid header value: use one line of visible ASCII."
                    )
                }
                headers.append((header.name, value))
            }
        }
        return headers
    }

    /// The client secret that a webhook's token requests use; nil without OAuth 2.0.
    static func clientSecret(
        of webhook: Destination.Webhook, named name: DestinationName, path: String
    ) throws(ConfigRefusal) -> String? {
        guard let credentials = webhook.credentials else { return nil }
        return try secret(credentials.clientSecret, for: "/destinations/\(name)/oauth2/clientSecret", path: path)
    }

    /// Refuses files that are not there: later they would only fail every request. `place`: of the setting.
    static func checkFiles(of tls: TransportOptions.TLS, at place: String, path: String) throws(ConfigRefusal) {
        for (key, file) in [("ca", tls.authorities), ("certificate", tls.certificate), ("key", tls.key)] {
            guard let file, !FileManager.default.isReadableFile(atPath: file) else { continue }
            throw ConfigRefusal("\(path): \(place)/\(key): the file \(file) cannot be read.")
        }
    }

    /// Links to the gateway's own files, signed where the config asks for that.
    static func mediaLinks(_ config: GatewayConfig, path: String) throws(ConfigRefusal) -> MediaLinks {
        guard let signed = config.media.signedUrls else { return MediaLinks(publicUrl: config.gateway.publicUrl) }
        let place = "/media/signedUrls/secret"
        var secrets: [String] = []
        for reference in signed.secrets {
            let secret = try secret(reference, for: place, path: path)
            guard secret.utf8.count >= MediaLinks.shortestSecret else {
                throw ConfigRefusal(
                    "\(path): \(place): \(reference) is shorter than \(MediaLinks.shortestSecret) bytes and could be "
                        + "guessed. Use the output of `openssl rand -base64 32`.")
            }
            secrets.append(secret)
        }
        return MediaLinks(publicUrl: config.gateway.publicUrl, secrets: secrets, expiry: signed.expiry)
    }

    /// A digest of a webhook's settings outside the config: secrets and the contents of its TLS files. An unreadable
    /// value counts as empty; its user reports the error.
    static func digest(ofSecretsOf webhook: Destination.Webhook) -> [UInt8] {
        var references = webhook.secrets
        for header in webhook.headers {
            if case .secret(let reference) = header.value { references.append(reference) }
        }
        if let credentials = webhook.credentials { references.append(credentials.clientSecret) }
        var bytes: [UInt8] = []
        func add(_ part: [UInt8]) { bytes += sha256(part) }
        for reference in references {
            add(Array(((try? reference.resolve(environment: ProcessInfo.processInfo.environment)) ?? "").utf8))
        }
        let tls = webhook.transport.tls
        for file in [tls.authorities, tls.certificate, tls.key].compactMap(\.self) {
            add(Array(FileManager.default.contents(atPath: file) ?? Data()))
        }
        return sha256(bytes)
    }

    private static func secret(_ reference: SecretReference, for place: String, path: String) throws(ConfigRefusal)
        -> String
    {
        do throws(UnresolvedSecret) {
            return try reference.resolve(environment: ProcessInfo.processInfo.environment)
        } catch {
            throw ConfigRefusal("\(path): \(place): \(error).")
        }
    }
}
