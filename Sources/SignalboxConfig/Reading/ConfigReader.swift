package import SignalboxJSON
import SignalboxNotification

/// Goes through a config and notes what is wrong, so that one run shows every mistake.
package struct ConfigReader {
    let parser: JSONParser
    /// One of each file, the config's own first.
    let roots: [JSONValue]
    /// The location of the first root within the config, when the text is a part of it.
    let base: ConfigLocation
    package internal(set) var diagnostics = ConfigDiagnostics()
    /// Files that were read for what the config says.
    var templateFiles: [String] = []
    /// Destinations that get payloads as they came.
    private(set) var rawDestinations: Set<DestinationName> = []
    /// Objects, and the keys that they may have, as they were asked for.
    private(set) var askedKeys: [(object: JSONValue, keys: [String])] = []

    /// What files beside the config may hold.
    private static let partKeys = ["$schema", "sources", "destinations", "routes"]
    private static let keys = [
        "$schema", "gateway", "sources", "detectors", "egress", "destinations", "routes", "fallback", "retention",
        "admin", "actions", "categories", "media",
    ]

    /// `roots`: of this parser. `base`: where the first root is, when the text is a part of a config.
    package init(parser: JSONParser, roots: [JSONValue], base: ConfigLocation = ConfigLocation(pointer: "")) {
        self.parser = parser
        self.roots = roots
        self.base = base
    }

    /// Remembers what keys were looked for.
    mutating func ask(_ keys: [String], of value: JSONValue) {
        askedKeys.append((value, keys))
    }

    mutating func config() -> GatewayConfig {
        var config = GatewayConfig()
        let root = roots[0]
        for part in roots.dropFirst() { checkPart(part) }
        guard isObject(root, keys: Self.keys) else { return config }
        if let gateway = root["gateway"] { config.gateway = self.gateway(gateway) }
        config.sources = sources(roots.compactMap { $0["sources"] })
        if let detectors = root["detectors"], isObject(detectors, keys: ["chain", "custom"]) {
            config.chain = detectors["chain"].map { chain($0) }
            config.customDetectors = detectors["custom"].map { JSONText($0) }
            checkCustom(detectors["custom"], chain: config.chain)
        }
        if let egress = root["egress"], isObject(egress, keys: ["allow"]) {
            config.egressAllow = egress["allow"].map { ranges($0) } ?? []
        }
        if let admin = root["admin"] {
            _ = isObject(admin, keys: ["auth"])
            config.adminBearer = bearer(admin, orElse: "operators need")
        }
        if let retention = root["retention"] { config.retention = self.retention(retention) }
        if let categories = root["categories"] { config.categories = self.categories(categories) }
        if let media = root["media"] { config.media = self.media(media) }
        readRoutes(into: &config)
        config.templateFiles = templateFiles
        return config
    }

    /// The location of every declared destination, in order; a name that is declared twice is there twice.
    var declaredDestinations: [(name: DestinationName, location: ConfigLocation)] {
        roots.enumerated().flatMap { file, root -> [(name: DestinationName, location: ConfigLocation)] in
            guard let destinations = root["destinations"] else { return [] }
            return destinations.members.map { key, _ in
                let name = String(decoding: key, as: UTF8.self)
                let location = ConfigLocation(file: file, pointer: "/destinations").appending(name, isKey: true)
                return (DestinationName(name), location)
            }
        }
    }

    /// Destinations, and all that names them.
    private mutating func readRoutes(into config: inout GatewayConfig) {
        let declared = roots.compactMap { $0["destinations"] }
        config.destinations = destinations(declared, of: config.gateway)
        for destination in config.destinations where destination.wantsPayload {
            rawDestinations.insert(destination.name)
        }
        // Those that hold mistakes are known all the same.
        let names = KnownDestinations(declaredDestinations.map(\.name.name))
        config.routes = routes(roots.map { $0["routes"] }, destinations: names)
        if let fallback = roots[0]["fallback"] {
            config.fallback = destinationNames(fallback, known: names)
        }
        if let actions = roots[0]["actions"] { config.actions = self.actions(actions, destinations: names) }
    }

    /// A file beside the config holds less than the config: what the gateway is as a whole is said in one place.
    private mutating func checkPart(_ root: JSONValue) {
        for (name, member) in root.members {
            let key = String(decoding: name, as: UTF8.self)
            guard Self.keys.contains(key), !Self.partKeys.contains(key) else { continue }
            note(
                keyOf: member,
                "\"\(key)\" belongs in the config itself; this file may add sources, destinations and routes")
        }
        _ = isObject(root, keys: Self.keys)
    }

    private mutating func gateway(_ value: JSONValue) -> GatewayConfig.Gateway {
        var gateway = GatewayConfig.Gateway()
        guard isObject(value, keys: ["name", "publicUrl", "listen", "dataDir"]) else { return gateway }
        if let name = value["name"].flatMap({ text($0) }) {
            gateway.name = name
            if let value = value["name"], !NameRule.allows(name) { note(value, "this is no name: " + NameRule.words) }
        }
        gateway.publicUrl = value["publicUrl"].flatMap { webAddress($0) }
        gateway.listen = value["listen"].flatMap { line($0) }
        gateway.dataDirectory = value["dataDir"].flatMap { line($0) }
        return gateway
    }

    private mutating func retention(_ value: JSONValue) -> GatewayConfig.Retention {
        var retention = GatewayConfig.Retention()
        guard isObject(value, keys: ["ended", "dead", "bytes"]) else { return retention }
        let range: ClosedRange<Duration> = .seconds(60)...(.seconds(3660 * 86_400))
        if let ended = value["ended"] {
            retention.ended = duration(ended, in: range, example: "7d") ?? retention.ended
        }
        if let dead = value["dead"] { retention.dead = duration(dead, in: range, example: "30d") ?? retention.dead }
        if let bytes = value["bytes"] {
            retention.bytes = whole(bytes, in: (1 << 20)...(1 << 50)).map { Int64($0) } ?? retention.bytes
        }
        return retention
    }

    private mutating func sources(_ lists: [JSONValue]) -> [SourceName: GatewayConfig.Source] {
        var sources: [SourceName: GatewayConfig.Source] = [:]
        for (name, value) in namedObjects(lists, upTo: ConfigBounds.sources, "sources") {
            guard isObject(value, keys: ["auth", "vendor", "dedupe"]) else { continue }
            var source = GatewayConfig.Source()
            source.bearer = bearer(value, orElse: "a source needs")
            source.vendor = value["vendor"].flatMap { sourceVendor($0) }
            source.dedupe = value["dedupe"].flatMap { dedupe($0) }
            sources[SourceName(name)] = source
        }
        return sources
    }

    /// The tokens of an object's `auth`. `words`: who needs one.
    private mutating func bearer(_ value: JSONValue, orElse words: String) -> [SecretReference] {
        let auth = value["auth"]
        let tokens = auth.flatMap { isObject($0, keys: ["bearer"]) ? $0["bearer"] : nil }
        if tokens?.isEmptyContainer ?? (auth?.isObject ?? true) {
            note(tokens ?? auth ?? value, "\(words) at least one token: \"auth\": {\"bearer\": [\"env:TOKEN\"]}")
        }
        return tokens.map { list($0).compactMap { secret($0) } } ?? []
    }

    private mutating func dedupe(_ value: JSONValue) -> GatewayConfig.Dedupe? {
        guard isObject(value, keys: ["window", "key"]) else { return nil }
        guard let key = value["key"], let window = value["window"] else {
            note(value, "this needs a \"key\", such as \"/data/campaign/messageId\", and a \"window\", such as \"10m\"")
            return nil
        }
        let range: ClosedRange<Duration> = .seconds(1)...(.seconds(7 * 86_400))
        guard let pointer = pointer(key), let duration = duration(window, in: range, example: "10m") else {
            return nil
        }
        return GatewayConfig.Dedupe(key: pointer, window: duration)
    }

    private mutating func sourceVendor(_ value: JSONValue) -> VendorID? {
        guard let name = text(value) else { return nil }
        let sourceVendors = Vendors.namedBySource
        guard !sourceVendors.contains(name) else { return VendorID(name) }
        if Vendors.names.contains(name) {
            note(value, "payloads of \"\(name)\" are recognised by themselves; leave out \"vendor\"")
        } else {
            note(
                value,
                "no source can be of \"\(name)\"" + Self.suggestion(for: name, among: sourceVendors))
        }
        return nil
    }

    private mutating func chain(_ value: JSONValue) -> [String] {
        var chain: [String] = []
        let detectors = Vendors.names
        for entry in list(value) {
            guard let name = text(entry) else { continue }
            if !detectors.contains(name) {
                note(entry, "there is no detector \"\(name)\"" + Self.suggestion(for: name, among: detectors))
            } else if chain.contains(name) {
                note(entry, "\"\(name)\" stands in the chain twice; remove one")
            }
            chain.append(name)
        }
        return chain
    }

    /// A user's own entries are part of the chain's link `catalogue`.
    private mutating func checkCustom(_ custom: JSONValue?, chain: [String]?) {
        guard let custom else { return }
        if let chain, !chain.contains("catalogue") {
            note(custom, "the chain never asks these; add \"catalogue\" to it")
        }
        guard !hasTooManyEntries(custom) else { return }
        for mistake in Catalogue.mistakes(in: custom, with: parser) {
            diagnostics.error(at: ConfigLocation(pointer: mistake.pointer), mistake.message)
        }
    }

    mutating func ranges(_ value: JSONValue) -> [AddressRange] {
        var ranges: [AddressRange] = []
        for entry in list(value) {
            guard let text = text(entry) else { continue }
            if let range = AddressRange(text) {
                ranges.append(range)
            } else {
                note(
                    entry,
                    "\"\(text)\" is no address range; write it like 10.0.0.0/8 or fd00::/8, with no bits set behind the prefix"
                )
            }
        }
        return ranges
    }
}
