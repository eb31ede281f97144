import SignalboxConfig
import SignalboxEgress
import SignalboxJSON
import SignalboxNotification
import SignalboxRouting

/// Warnings about a valid config that need the events and the address policy: names that no event has, and addresses
/// to which nothing is sent.
struct ConfigEventCheck {
    private var patterns: PatternCheck
    private let files: [ConfigText]
    /// Destinations and sources whose file was looked for; no more than there are warnings.
    private var located = 0

    /// The warnings about a config, with their positions. `files`: those that it was read from.
    static func warnings(about config: GatewayConfig, in files: [ConfigText]) -> [ConfigMistake] {
        var check = ConfigEventCheck(config, files)
        for route in config.routes { check.check(route) }
        for rule in config.failures {
            if let match = rule.match { check.patterns.check(match, at: rule.location.appending("match")) }
        }
        check.checkSources(of: config)
        check.checkDestinations(of: config)
        return check.patterns.diagnostics.mistakes(in: files)
    }

    /// The warnings about the URLs that references lead to, which are known once secrets are read. They never show more
    /// of a URL than its address. `urls`: by destination.
    static func warnings(
        about urls: [DestinationName: String], of config: GatewayConfig, in files: [ConfigText]
    ) -> [ConfigMistake] {
        var check = ConfigEventCheck(config, files)
        for destination in config.destinations {
            guard case .webhook(let webhook) = destination.endpoint, webhook.urlReference != nil,
                let url = urls[destination.name]
            else { continue }
            check.check(url, config.policy(of: destination), at: destination.location.appending("url"))
        }
        return check.patterns.diagnostics.mistakes(in: files)
    }

    private init(_ config: GatewayConfig, _ files: [ConfigText]) {
        self.files = files
        patterns = PatternCheck(vendors: Set(config.vendorNames), diagnostics: ConfigDiagnostics())
    }

    private mutating func check(_ route: RouteOptions) {
        if let match = route.match { patterns.check(match, at: route.location.appending("match")) }
        let event = EventField.events(of: [], vendors: [])
        for redaction in route.redactions {
            check(redaction.pointer, of: event, at: route.location.appending("redact", isKey: true))
        }
        switch route.transform {
        case .map(let fields):
            for pointer in fields.flatMap(\.pointers) {
                check(pointer, of: event, at: route.location.appending("transform", isKey: true))
            }
        case .template(let source): check(source, of: event)
        case nil: break
        }
    }

    private mutating func check(_ pointer: JSONPointer, of event: EventField, at location: ConfigLocation) {
        guard let missing = event.missing(pointer) else { return }
        let place = inItsFile(location)
        patterns.diagnostics.warning(
            at: place,
            "no event has the field \(pointer.text)" + PatternCheck.advice(for: missing.key, among: missing.known))
    }

    private mutating func check(_ source: TemplateSource, of event: EventField) {
        var names = TemplateCheck(of: event)
        let text = Array(source.body.utf8)
        for finding in names.findings(in: TemplateTag.tags(of: source.body)) {
            let position = TextPosition(offset: finding.offset, in: text)
            patterns.diagnostics.warning(
                at: source.location,
                "line \(position.line), column \(position.column) of the template: no event has \"\(finding.key)\" here"
                    + PatternCheck.advice(for: finding.key, among: finding.known))
        }
    }

    /// An event without the value of the key is never a repeat, so a misspelled key lets every repeat pass.
    private mutating func checkSources(of config: GatewayConfig) {
        let event = EventField.events(of: [], vendors: [])
        for (name, source) in config.sources.sorted(by: { $0.key.name < $1.key.name }) {
            guard let dedupe = source.dedupe else { continue }
            let location = ConfigLocation(pointer: "/sources").appending(name.name)
            check(dedupe.key, of: event, at: location.appending("dedupe").appending("key"))
        }
    }

    // MARK: Destinations

    /// The events of a destination may have any data if a route transforms them.
    private mutating func checkDestinations(of config: GatewayConfig) {
        let event = EventField.events(of: [], vendors: [])
        let transformed = Set(config.routes.filter { $0.transform != nil }.flatMap(\.destinations))
        for destination in config.destinations {
            guard case .webhook(let webhook) = destination.endpoint else { continue }
            let (location, policy) = (destination.location, config.policy(of: destination))
            check(webhook.url, policy, at: location.appending("url"))
            if let url = webhook.credentials?.tokenURL {
                check(url, policy, at: location.appending("oauth2").appending("tokenUrl"))
            }
            guard !transformed.contains(destination.name) else { continue }
            if case .template(let source) = webhook.format { check(source, of: event) }
            if let key = destination.ordering?.key { check(key, of: event, at: location.appending("ordering")) }
        }
    }

    /// The location of an option of a destination or source, which may be in any file of the config.
    private mutating func inItsFile(_ location: ConfigLocation) -> ConfigLocation {
        let isShared = ["/destinations/", "/sources/"].contains { location.pointer.hasPrefix($0) }
        guard isShared, located < ConfigDiagnostics.most else { return location }
        located += 1
        var found = location
        found.file = files.index(declaring: location.pointer) ?? 0
        return found
    }

    /// Only an address in the URL itself: names are resolved when a request is sent.
    private mutating func check(_ url: String, _ policy: AddressPolicy, at location: ConfigLocation) {
        guard let address = OutboundURL.literalAddress(in: url), let reason = policy.denial(of: address) else { return }
        let place = inItsFile(location)
        patterns.diagnostics.warning(
            at: place,
            "nothing is sent to \(address), which is \(reason); add its range to \"allow\" here, or to \"egress.allow\""
        )
    }
}

extension GatewayConfig {
    /// The addresses that requests to a destination may go to.
    fileprivate func policy(of destination: Destination) -> AddressPolicy {
        AddressPolicy(allow: egressAllow + destination.allow)
    }
}

extension Destination {
    /// In whichever file of the config.
    fileprivate var location: ConfigLocation { ConfigLocation(pointer: "/destinations").appending(name.name) }
}

extension DataField {
    /// The pointers of this member and of those below it.
    fileprivate var pointers: [JSONPointer] {
        switch source {
        case .pointer(let pointer): [pointer]
        case .object(let fields): fields.flatMap(\.pointers)
        }
    }
}
