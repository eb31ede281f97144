import Foundation
import SignalboxConfig
import SignalboxInApp
import SignalboxJSON
import SignalboxNotification
import SignalboxRouting
import SignalboxTesting
import Testing

@Suite struct ConfigTests {
    @Test(arguments: try FixtureFile.all(in: .module, folder: "configs/good"))
    func readsAGoodConfigAsExpected(_ file: FixtureFile) throws {
        let config = try RoutedConfig(file.bytes).config
        var writer = JSONWriter()
        writer.config(config)
        let differences = try JSONDifference.lines(expected: Array(file.expected.utf8), actual: writer.bytes)
        #expect(differences.isEmpty, "\(differences.joined(separator: "\n"))")
    }

    @Test(arguments: try FixtureFile.all(in: .module, folder: "configs/bad"))
    func reportsEveryMistakeOfABadConfig(_ file: FixtureFile) {
        let mistakes = Self.mistakes(file).map(\.description).joined(separator: "\n") + "\n"
        #expect(mistakes == file.expected)
    }

    @Test(arguments: try FixtureFile.all(in: .module, folder: "configs/bad"))
    func everyMistakeHasAPlaceAndPlainWords(_ file: FixtureFile) {
        let mistakes = Self.mistakes(file)
        #expect(!mistakes.isEmpty)
        for mistake in mistakes {
            #expect(mistake.position != nil || file.bytes.allSatisfy { $0 <= 0x20 } || file.name == "too-deep")
            #expect(!mistake.message.hasSuffix(".") && !mistake.message.contains("\n"))
            for word in ["seconds(", "attoseconds", "Optional", "JSONValue", "nil"] {
                #expect(!mistake.message.contains(word))
            }
        }
    }

    /// No message repeats a secret that was pasted into the config.
    @Test(arguments: try FixtureFile.all(in: .module, folder: "configs/bad"))
    func noMistakeRepeatsASecret(_ file: FixtureFile) {
        for mistake in Self.mistakes(file) { #expect(!mistake.description.lowercased().contains("hunter2")) }
    }

    private static func mistakes(_ file: FixtureFile) -> [ConfigMistake] {
        do throws(InvalidConfig) {
            _ = try RoutedConfig(file.bytes)
            return []
        } catch {
            return error.mistakes
        }
    }
}

// MARK: A config as the expected files spell it

extension JSONWriter {
    fileprivate mutating func config(_ config: GatewayConfig) {
        beginObject()
        key("gateway")
        string(
            [
                config.gateway.name, config.gateway.publicUrl ?? "-", config.gateway.listen.http ?? "-",
                config.gateway.dataDirectory ?? "-",
            ].joined(separator: " "))
        let listen = config.gateway.listen
        if listen.apns != nil || listen.tls != nil {
            key("listen")
            let tls = listen.tls.map { [$0.certificate, $0.key, $0.clientCA].map { $0?.description ?? "-" } }
            strings([listen.apns ?? "-"] + (listen.proxy.map { ["proxy " + $0] } ?? []) + (tls ?? []))
        }
        key("sources")
        beginObject()
        for (name, source) in config.sources.sorted(by: { $0.key.name < $1.key.name }) {
            key(name.name)
            strings(source.bearer.map(\.description) + (source.vendor.map { ["of " + $0.name] } ?? []))
        }
        endObject()
        key("chain")
        strings(config.chain ?? ["all"])
        key("allow")
        strings(config.egressAllow.map(\.description))
        key("destinations")
        beginObject()
        for destination in config.destinations {
            key(destination.name.name)
            string(Self.spelled(destination))
        }
        endObject()
        key("routes")
        strings(
            config.routes.map { route in
                "\(route.name) to \(route.destinations)\(route.stop ? " stop" : "")"
                    + (route.ignoring.contains(.notBefore) ? " ignoring notBefore" : "")
                    + (route.ignoring.contains(.notAfter) ? " ignoring notAfter" : "")
                    + (route.including.contains(.apns) ? " including apns" : "") + Self.spelled(route.media)
                    + Self.options(of: route)
            })
        key("fallback")
        strings(config.fallback.map(\.name))
        if config.actions != ActionTypes() {
            key("actions")
            strings(Self.spelled(config.actions))
        }
        if config.media != GatewayConfig.Media() {
            key("media")
            strings(MediaConfigTests.spelled(config.media))
        }
        if config.inapp != Policy() {
            key("inapp")
            strings(InAppConfigTests.spelled(config.inapp))
        }
        endObject()
    }

    private static func spelled(_ destination: Destination) -> String {
        let retry = destination.retry
        let limits = "x\(destination.concurrency) retry \(retry.attempts) \(retry.base.text) \(retry.max.text)"
        switch destination.endpoint {
        case .inbox: return "inbox \(limits)"
        case .webhook(let webhook):
            let secrets = webhook.secrets.map(\.description).joined(separator: "+")
            let parts = [webhook.url, secrets, webhook.timeout.text, limits, spelled(webhook.format)]
            return (parts + [webhook.compression?.rawValue ?? ""]).filter { !$0.isEmpty }.joined(separator: " ")
                + access(webhook)
        }
    }

    private static func spelled(_ media: RouteMedia) -> String {
        switch media {
        case .none: " media none"
        case .link: ""
        case .stored(let wait): " media stored \(wait.text)"
        }
    }

    private static func options(of route: RouteOptions) -> String {
        var words: [String] = route.isEnabled ? [] : ["disabled"]
        if let sample = route.sample { words.append("sample \(sample)") }
        if let window = route.window {
            if let from = window.from { words.append("from \(from.text)") }
            if let until = window.until { words.append("until \(until.text)") }
            let days = RouteWindow.Weekday.allCases.filter { window.days?.contains($0) ?? false }
            if !days.isEmpty { words.append("on " + days.map(\.rawValue).joined(separator: " ")) }
            if !window.hours.isEmpty {
                words.append("at " + window.hours.map { "\($0.start)-\($0.end)" }.joined(separator: " "))
            }
            words.append("in \(window.zone.identifier)")
        }
        if !route.redactions.isEmpty { words.append("redacted") }
        switch route.transform {
        case .template(let template): words.append("rendered \(template.body)")
        case .map(let fields): words.append("mapped " + spelled(fields))
        case nil: break
        }
        return words.map { " " + $0 }.joined()
    }

    private static func spelled(_ fields: [DataField]) -> String {
        fields.map { field in
            switch field.source {
            case .pointer(let pointer): "\(field.name)=\(pointer.text)"
            case .object(let inner): "\(field.name)={\(spelled(inner))}"
            }
        }.joined(separator: " ")
    }

    private static func spelled(_ actions: ActionTypes) -> [String] {
        let types = actions.custom.sorted { $0.key < $1.key }.map { word, type in
            let options = type.requiredOptions.names.joined(separator: " ")
            let to = type.destinations.map(\.name).joined(separator: " ")
            return word + (options.isEmpty ? "" : " needs " + options) + (to.isEmpty ? "" : " to " + to)
                + (type.arguments.map { " with " + spelled($0) } ?? "")
        }
        return (actions.schemes.map { ["schemes " + $0.sorted().joined(separator: " ")] } ?? []) + types
    }

    private static func spelled(_ schema: ArgumentSchema) -> String {
        switch schema.kind {
        case .object:
            let members = schema.properties.sorted { $0.key < $1.key }.map { "\($0.key): \(spelled($0.value))" }
            return "object{" + members.joined(separator: ", ") + "; " + schema.required.joined(separator: ", ") + "}"
        case .array: return "array[" + schema.items.map { spelled($0) }.joined() + "]"
        default:
            let bounds = [schema.minimum.map { "\($0)" }, schema.maximum.map { "\($0)" }].compactMap { $0 }
            let lengths = [schema.minLength, schema.maxLength].compactMap { $0.map { "\($0)" } }
            let range = (bounds + lengths).joined(separator: "-")
            let choices = schema.allowed.map { " of " + $0.joined(separator: "|") } ?? ""
            return schema.kind.rawValue + (range.isEmpty ? "" : " " + range) + choices
        }
    }

    private static func spelled(_ format: Destination.Format) -> String {
        switch format {
        case .cloudEvents: ""
        case .cloudEventsBatch(let batch):
            "\(format.name.rawValue) \(batch.count) \(ByteCount.text(batch.bytes)) \(batch.age.text)"
        case .template(let template): "\(format.name.rawValue) \(template.body) as \(template.contentType)"
        default: format.name.rawValue + (format == .raw ? " with payload" : "")
        }
    }

    /// Settings that differ from their defaults.
    private static func access(_ webhook: Destination.Webhook) -> String {
        var words: [String] = []
        if let userAgent = webhook.userAgent { words.append("user agent \(userAgent)") }
        for header in webhook.headers {
            switch header.value {
            case .text(let text): words.append("\(header.name): \(text)")
            case .secret(let reference): words.append("\(header.name) from \(reference)")
            }
        }
        let tls = webhook.transport.tls
        if let file = tls.authorities { words.append("ca \(file)") }
        if let file = tls.certificate { words.append("certificate \(file)") }
        if let file = tls.key { words.append("key \(file)") }
        words += tls.pins.map { "pin \($0)" }
        if tls.minimum != .v1_2 { words.append("TLS \(tls.minimum.rawValue)") }
        switch webhook.transport.proxy {
        case .none: break
        case .environment: words.append("proxy of the environment")
        case .address(let url): words.append("proxy \(url)")
        }
        if let credentials = webhook.credentials {
            words.append(
                "token of \(credentials.tokenURL) \(credentials.clientID) \(credentials.clientSecret) \(credentials.scope ?? "-")"
            )
        }
        if let handshake = webhook.handshake {
            let rate = handshake.perMinute.map { " \($0)/m" } ?? ""
            words.append("asks as \(handshake.origin)\(rate) every \(handshake.age.text)")
        }
        return words.map { ", " + $0 }.joined()
    }
}
