import SignalboxJSON
package import SignalboxNotification

/// A webhook, or the built-in inbox. The `options` of each struct in this folder document its properties.
package struct Destination: Sendable, Equatable {
    /// Unique in the config.
    package internal(set) var name: DestinationName
    /// The webhook to post to, or the inbox.
    package var endpoint: Endpoint
    /// Most concurrent requests, 1 to 1024. Processes that share a store divide it among them.
    package var concurrency = 16
    /// The attempts and the waits between them.
    package var retry = Retry()
    /// Attempts a second over time; nil for no limit. Processes that share a store have one rate together.
    package var perSecond: Double?
    /// Pauses after consecutive failures. Among processes that share a store, one at a time probes.
    package var breaker = Breaker()
    /// Nil to send deliveries in any order.
    package var ordering: Ordering?
    /// Special-purpose addresses that it may have, in addition to ``GatewayConfig/egressAllow``.
    package var allow: [AddressRange] = []

    /// All other settings have their defaults.
    package init(name: DestinationName, endpoint: Endpoint) { (self.name, self.endpoint) = (name, endpoint) }

    /// True if its messages are made from the payload as it arrived.
    package var wantsPayload: Bool { webhook?.format == .raw }

    /// The limits of its requests; nil if each request has one event.
    package var batch: Batch? { webhook?.format.batch }

    /// The request for permission; nil if messages are sent without.
    package var handshake: Handshake? { webhook?.handshake }

    /// Nil for the inbox.
    private var webhook: Webhook? {
        if case .webhook(let webhook) = endpoint { webhook } else { nil }
    }

    /// The receiver of messages.
    package enum Endpoint: Sendable, Equatable {
        /// Requests over HTTP.
        case webhook(Webhook)
        /// Shows events on the gateway's standard output.
        case inbox
    }

    /// The parts of an event's trace that the messages to a webhook have. Raw values are those of the config.
    package enum TraceForwarding: String, Sendable, CaseIterable {
        /// Both headers, and the event as it is stored.
        case full
        /// The header `traceparent`; the event has no attributes of its trace.
        case parent
        /// Neither headers nor attributes.
        case none
    }

    /// An HTTP endpoint, and the requests to it.
    package struct Webhook: Sendable, Equatable {
        /// An http or https URL without user name, password and fragment. Empty while ``urlReference`` names it.
        package var url: String
        /// The place of a URL that is a secret; nil for a URL of the config itself.
        package var urlReference: SecretReference?
        /// `whsec_` or `whsk_` keys. Empty only for formats of services that verify no signature.
        package var secrets: [SecretReference]
        /// From the start of an attempt to the last byte of the response.
        package var timeout: Duration = .seconds(15)
        /// The format of bodies.
        package var format: Format = .cloudEvents
        /// Nil to send bodies uncompressed.
        package var compression: Compression?
        /// TLS and proxy of its connections.
        package var transport = TransportOptions()
        /// Names are different, and the gateway sets none of them.
        package var headers: [Header] = []
        /// Nil for the gateway's own.
        package var userAgent: String?
        /// The OAuth 2.0 client; nil for requests without an access token.
        package var credentials: ClientCredentials?
        /// Nil to send without permission.
        package var handshake: Handshake?
        /// The parts of an event's trace that messages have.
        package var trace = TraceForwarding.full

        /// All other settings have their defaults.
        package init(url: String, secrets: [SecretReference]) { (self.url, self.secrets) = (url, secrets) }
    }
}

// MARK: Options

extension Destination {
    /// An object with `builtin` has no other option.
    static var type: OptionType<[Destination]> {
        let webhook = OptionType<Draft>.section(Draft.options)
        let builtin = OptionType<String?>.section(builtin)
        let schema: JSONNode = [
            "if": ["required": ["builtin"]], "then": builtin.info.schema, "else": webhook.info.schema,
        ]
        let either = OptionType<(draft: Draft?, file: Int)>(
            TypeInfo("object", schema, members: webhook.info.members + builtin.info.members)
        ) { value, reader in
            guard !isBuiltin(value) else { return builtin.read(value, &reader).map { _ in (nil, 0) } }
            return webhook.read(value, &reader).map { ($0, reader.file(of: value)) }
        }
        return either.keyed(by: .names("destinations", upTo: ConfigBounds.destinations)).map { entries in
            entries.map { name, entry in
                let location = ConfigLocation(file: entry.file, pointer: "/destinations").appending(name)
                return entry.draft?.destination(named: name, at: location)
                    ?? Destination(name: DestinationName(name), endpoint: .inbox)
            }
        }
    }

    /// Whether an object has the option `builtin`, or a misspelling of it and no `url`.
    private static func isBuiltin(_ value: JSONValue) -> Bool {
        guard value["builtin"] == nil, value["url"] == nil else { return value["builtin"] != nil }
        return value.members.prefix(ConfigDiagnostics.most).contains { key, _ in
            Spelling.nearest(to: String(decoding: key, as: UTF8.self), among: ["builtin"]) != nil
        }
    }

    /// Rejects every other option next to it.
    private static let builtin = Section(String?.none) {
        Option(
            "builtin", \.self,
            .word(among: ["inbox"], expected: "there is only one built-in destination; write \"inbox\""),
            "Instead of all other options: shows events on the gateway's standard output.")
    }

    /// A destination while its options are read. `format`, `template` and `batch` combine into one value once all of
    /// them are known.
    private struct Draft: Sendable {
        /// All options that do not concern HTTP.
        var settings = Destination(name: DestinationName(""), endpoint: .inbox)
        /// Without its URL and its format, which have properties of their own here.
        var webhook = Webhook(url: "", secrets: [])
        var url = WebhookURL.text("")
        var format = Format.Name.cloudEvents
        /// Without its location, which follows from the name of the destination.
        var template: TemplateSource?
        /// Has an effect for the format `cloudevents-batch` only.
        var batch = Batch()

        /// `location`: the location of the destination in the config. A request for permission without a rate asks for
        /// that of the destination.
        func destination(named name: String, at location: ConfigLocation) -> Destination {
            var (destination, webhook) = (settings, webhook)
            destination.name = DestinationName(name)
            switch url {
            case .text(let text): webhook.url = text
            case .secret(let reference): webhook.urlReference = reference
            }
            let template = template?.located(at: location.appending("template"))
            webhook.format = Format(format, template: template, batch: batch)
            if webhook.handshake?.perMinute == nil {
                webhook.handshake?.perMinute = destination.perSecond.map { Handshake.perMinute($0) }
            }
            destination.endpoint = .webhook(webhook)
            return destination
        }

        /// Only `url` is required, and `secret` for most formats.
        static let options = Section(Draft(), rules: rules) {
            Option(
                "url", \.url, WebhookURL.type, required: "a destination needs a \"url\", or \"builtin\": \"inbox\"",
                "The URL to which messages are posted. A URL that is a secret is a reference, such as `env:CHAT_URL`.")
            Option(
                "secret", \.webhook.secrets, .references,
                "The signing secret: a `whsec_` secret (24 to 64 bytes in Base64, signs `v1`) or a `whsk_` key (Ed25519, signs `v1a`). With several, each message has a signature of each, so that receivers can change over."
            )
            Option("format", \.format, .choice("format"), "The format of messages.")
            Option(
                "template", \.template, TemplateSource.type,
                "With `\"format\": \"template\"`: the Mustache template of the body.")
            Option(
                "compression", \.webhook.compression,
                .choice(expected: "there is only one compression; write \"gzip\", or leave it out"),
                "Compression of bodies.")
            Option(
                "batch", \.batch, .section(Batch.options),
                "With `\"format\": \"cloudevents-batch\"`: the limits of a request.")
            Option(
                "timeout", \.webhook.timeout, .duration(from: "10ms", to: "5m", example: "15s"),
                "From the start of an attempt to the last byte of the response. Requests for an access token and for "
                    + "permission have the same time each.")
            Option(
                "concurrency", \.settings.concurrency, .whole(1...1024),
                "Concurrent requests, and so the most connections of the destination.")
            Option(
                "rate", \.settings.perSecond, .rate,
                "Largest rate of attempts over time; at most one second's attempts start at once. Default: no limit.")
            Option(
                "retry", \.settings.retry, .section(Retry.options(default: Retry())),
                "Retries of failed deliveries: before each, a random wait up to `base`, which doubles with every attempt."
            )
            Option(
                "breaker", \.settings.breaker, .section(Breaker.options), "Pauses of a destination that keeps failing.")
            Option(
                "ordering", \.settings.ordering, Ordering.type,
                "Sends events with an equal `subject`, or with an equal value in the event, one after the other.")
            Option(
                "allow", \.settings.allow, .ranges,
                "Special-purpose addresses that this destination may have, in addition to `egress.allow`.")
            Option(
                "handshake", \.webhook.handshake, Handshake.type,
                "Requests permission before anything is sent (abuse protection of CloudEvents).")
            Option("headers", \.webhook.headers, Header.type, "Further headers of every request.")
            Option(
                "userAgent", \.webhook.userAgent,
                .string("header value", pattern: "^[!-~]([ -~]*[!-~])?$", expected: { _ in Header.invalid }) {
                    Header.allows($0) ? $0 : nil
                },
                "The header `user-agent` of every request. Default: `signalbox/VERSION`.")
            Option(
                "trace", \.webhook.trace, .choice("setting of traces"),
                "The trace (W3C Trace Context) that messages have. `full`: the headers `traceparent` and `tracestate`, and the event's attributes of these names. `parent`: the header `traceparent` only. `none`: none of them."
            )
            Option("tls", \.webhook.transport.tls, .section(TransportOptions.TLS.options), "TLS of requests.")
            Option("proxy", \.webhook.transport.proxy, TransportOptions.Proxy.type, "The HTTP proxy of requests.")
            Option(
                "oauth2", \.webhook.credentials, .section(ClientCredentials.options),
                "Gets access tokens by OAuth 2.0's client credentials grant (RFC 6749, 4.4).")
        } check: { draft, value, reader in
            draft.check(value, &reader)
        }

        /// The part of the check that a schema can express.
        private static let rules: JSONNode = [
            "anyOf": .array(signedOrNot),
            "if": ["required": ["format"], "properties": ["format": ["const": "template"]]],
            "then": ["required": ["template"]],
            "else": ["properties": ["template": false]],
            "dependentSchemas": [
                "batch": ["required": ["format"], "properties": ["format": ["const": "cloudevents-batch"]]]
            ],
        ]

        /// Schemas, one of which applies: a secret is there, or the format needs none.
        private static let signedOrNot: [JSONNode] = {
            let unsigned = Format.Name.allCases.filter { !$0.isSigned }.map(\.rawValue)
            let other: JSONNode = ["required": ["format"], "properties": ["format": ["enum": .strings(unsigned)]]]
            return [["required": ["secret"]]] + (unsigned.isEmpty ? [] : [other])
        }()

        /// Checks options together. Errors name the option to remove or to add.
        private func check(_ value: JSONValue, _ reader: inout ConfigReader) {
            // A format with a mistake may be any of them.
            if !reader.mistaken.contains("format") { checkFormat(value, &reader) }
            if let tls = value["tls"], case .text(let text) = url, text.lowercased().hasPrefix("http:") {
                reader.note(tls, "the \"url\" is http; \"tls\" needs https")
            }
            if let oauth2 = value["oauth2"], webhook.headers.contains(where: { $0.name == "authorization" }) {
                reader.note(
                    oauth2, "this sets the header \"authorization\", which is under \"headers\" too; remove one")
            }
        }

        /// Checks the options that depend on the format.
        private func checkFormat(_ value: JSONValue, _ reader: inout ConfigReader) {
            if reader.lacks("secret", in: value), format.isSigned {
                reader.note(value, "a destination needs a \"secret\" to sign with, such as \"env:CRM_SECRET\"")
            }
            if let member = value["template"], format != .template {
                reader.note(member, "a template needs \"format\": \"template\"")
            }
            if let member = value["batch"], format != .cloudEventsBatch {
                reader.note(
                    member,
                    "the format \"\(format.rawValue)\" has one event in a request; batches need \"cloudevents-batch\"")
            }
            if format == .template, reader.lacks("template", in: value) {
                let example = "{\"file\": \"/etc/signalbox/crm.mustache\"}"
                reader.note(value, "this format needs a \"template\", such as " + example)
            }
        }
    }
}
