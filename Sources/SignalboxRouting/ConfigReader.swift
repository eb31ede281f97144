package import SignalboxJSON
import SignalboxNotification

/// Goes through a config and notes what is wrong, so that one run shows every mistake.
package struct ConfigReader {
    /// What is wrong, with its JSON Pointer.
    package typealias EntryFinding = (pointer: String, message: String)
    package typealias EntryCheck = (_ list: JSONValue, _ parser: JSONParser) -> [EntryFinding]

    let parser: JSONParser
    /// One of each file, the config's own first.
    let roots: [JSONValue]
    let detectors: [String]
    let sourceVendors: [String]
    var findings: [Finding] = []
    /// All errors, including those that ``findings`` omits.
    var errorCount = 0
    /// Totals over the patterns read so far.
    var patternTotals = PatternTotals()
    /// Destinations that get payloads as they came.
    private(set) var rawDestinations: Set<DestinationName> = []
    /// Files that were read for what the config says.
    var templateFiles: [String] = []
    /// Objects, and the keys that they may have, as they were asked for.
    private(set) var askedKeys: [(object: JSONValue, keys: [String])] = []

    /// What files beside the config may hold.
    private static let partKeys = ["$schema", "sources", "destinations", "routes"]
    private static let keys = [
        "$schema", "gateway", "sources", "detectors", "egress", "destinations", "routes", "fallback", "retention",
        "admin", "actions", "categories", "media",
    ]

    init(parser: JSONParser, roots: [JSONValue], detectors: [String], sourceVendors: [String]) {
        self.parser = parser
        self.roots = roots
        self.detectors = detectors
        self.sourceVendors = sourceVendors
    }

    /// Remembers what keys were looked for.
    mutating func ask(_ keys: [String], of value: JSONValue) {
        askedKeys.append((value, keys))
    }

    mutating func config() -> GatewayConfig {
        var config = GatewayConfig()
        let root = roots[0]
        let parts = roots.dropFirst().filter { isPart($0) }
        guard isObject(root, keys: Self.keys) else { return config }
        if let gateway = root["gateway"] { config.gateway = self.gateway(gateway) }
        let all = [root] + parts
        config.sources = sources(all.compactMap { $0["sources"] })
        if let detectors = root["detectors"], isObject(detectors, keys: ["chain", "custom"]) {
            config.chain = detectors["chain"].map { chain($0) }
            config.customDetectors = detectors["custom"].map { JSONText($0) }
            checkCustomIsAsked(detectors["custom"], by: config.chain)
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
        readRoutes(of: all, into: &config)
        return config
    }

    /// Destinations, and all that names them.
    private mutating func readRoutes(of files: [JSONValue], into config: inout GatewayConfig) {
        let declared = files.compactMap { $0["destinations"] }
        config.destinations = destinations(declared, of: config.gateway)
        for destination in config.destinations {
            config.routes.orderings[destination.name] = destination.ordering
            if destination.wantsPayload { rawDestinations.insert(destination.name) }
        }
        config.routes.payloadTakers = rawDestinations
        // Those that hold mistakes are known all the same.
        let names = KnownDestinations(
            declared.flatMap { $0.members.map { String(decoding: $0.key, as: UTF8.self) } })
        config.routes.routes = routes(files.compactMap { $0["routes"] }, destinations: names)
        if let fallback = roots[0]["fallback"] {
            config.routes.fallback = destinationNames(fallback, known: names)
        }
        if let actions = roots[0]["actions"] { config.actions = self.actions(actions, destinations: names) }
    }

    /// A file beside the config holds less than the config: what the gateway is as a whole is said in one place.
    private mutating func isPart(_ root: JSONValue) -> Bool {
        guard root.isObject else { return isObject(root, keys: []) }
        for (name, member) in root.members {
            let key = String(decoding: name, as: UTF8.self)
            guard Self.keys.contains(key), !Self.partKeys.contains(key) else { continue }
            note(
                keyOf: member,
                "\"\(key)\" belongs in the config itself; this file may add sources, destinations and routes")
        }
        return isObject(root, keys: Self.keys)
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
        let sourceVendors = sourceVendors
        guard !sourceVendors.contains(name) else { return VendorID(name) }
        if detectors.contains(name) {
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
        let detectors = detectors
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
    private mutating func checkCustomIsAsked(_ custom: JSONValue?, by chain: [String]?) {
        guard let custom, let chain, !chain.contains("catalogue") else { return }
        note(custom, "the chain never asks these; add \"catalogue\" to it")
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
