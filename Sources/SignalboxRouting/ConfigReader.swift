package import SignalboxJSON
import SignalboxModel

extension GatewayConfig {
    /// Reads and checks a config. `detectors`: the names that `detectors.chain` may use; `sourceVendors`: those that a
    /// source's `vendor` may; `checkingEntries` finds what is wrong in the list `detectors.custom`. Fails with every mistake
    /// found.
    package static func read(
        _ text: [UInt8], detectors: [String], sourceVendors: [String] = [],
        checkingEntries: ConfigReader.EntryCheck = { _, _ in [] }
    ) throws(InvalidConfig) -> GatewayConfig {
        let parser = JSONParser()
        let root: JSONValue
        do throws(JSONError) {
            root = try parser.parse(text)
        } catch {
            throw InvalidConfig(mistakes: [ConfigMistake(error, in: text)])
        }
        var reader = ConfigReader(parser: parser, detectors: detectors, sourceVendors: sourceVendors)
        let config = reader.config(root)
        if let custom = root["detectors"]?["custom"] { reader.note(checkingEntries(custom, parser)) }
        guard reader.mistakes.isEmpty else {
            throw InvalidConfig(
                mistakes: reader.mistakes.map {
                    ConfigMistake(
                        pointer: $0.pointer, position: TextPosition(of: $0.pointer, in: text), message: $0.message)
                })
        }
        return config
    }
}

extension ConfigMistake {
    fileprivate init(_ error: JSONError, in text: [UInt8]) {
        let message =
            switch error.reason {
            case .empty: "the file is empty; it should hold a JSON object"
            case .invalidUTF8: "this is not UTF-8; save the file as UTF-8"
            case .unclosedString: "the file ends within a string; a quote is missing"
            case .incomplete: "the file ends too early; a closing bracket is missing"
            case .invalidString:
                "a string has a line end, another control character or a wrong escape here; close its quote, or escape it"
            case .invalidNumber: "this number does not fit 64 bits"
            case .tooDeep: "the file is nested more than 256 levels deep"
            case .tooLarge: "the file is larger than 16 MiB"
            default: "this is not JSON from here on; look for a missing or additional comma, quote or bracket"
            }
        self.init(
            pointer: "", position: error.offset.map { TextPosition(offset: $0, in: text) }, message: message)
    }
}

/// Goes through a config and notes what is wrong, so that one run shows every mistake.
package struct ConfigReader {
    /// What is wrong, with its JSON Pointer.
    package typealias Finding = (pointer: String, message: String)
    package typealias EntryCheck = (_ list: JSONValue, _ parser: JSONParser) -> [Finding]

    let parser: JSONParser
    let detectors: [String]
    let sourceVendors: [String]
    private(set) var mistakes: [Finding] = []

    init(parser: JSONParser, detectors: [String], sourceVendors: [String]) {
        self.parser = parser
        self.detectors = detectors
        self.sourceVendors = sourceVendors
    }

    mutating func note(_ value: JSONValue, _ message: String) {
        mistakes.append((parser.pointer(to: value), message))
    }

    mutating func note(_ findings: [Finding]) { mistakes += findings }

    mutating func config(_ root: JSONValue) -> GatewayConfig {
        var config = GatewayConfig()
        let keys = [
            "$schema", "gateway", "sources", "detectors", "egress", "destinations", "routes", "fallback", "retention",
            "admin", "actions", "categories", "media",
        ]
        guard isObject(root, keys: keys) else { return config }
        if let gateway = root["gateway"] { config.gateway = self.gateway(gateway) }
        if let sources = root["sources"] { config.sources = self.sources(sources) }
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
        config.destinations = root["destinations"].map { destinations($0, of: config.gateway) } ?? []
        for destination in config.destinations {
            config.routes.orderings[destination.name] = destination.ordering
            if destination.wantsPayload { config.routes.payloadTakers.insert(destination.name) }
        }
        // Those that hold mistakes are known all the same.
        let names = root["destinations"]?.members.map { DestinationName(String(decoding: $0.key, as: UTF8.self)) } ?? []
        if let routes = root["routes"] { config.routes.routes = self.routes(routes, destinations: names) }
        if let fallback = root["fallback"] {
            config.routes.fallback = destinationNames(fallback, known: names)
        }
        if let actions = root["actions"] { config.actions = self.actions(actions, destinations: names) }
        return config
    }

    private mutating func gateway(_ value: JSONValue) -> GatewayConfig.Gateway {
        var gateway = GatewayConfig.Gateway()
        guard isObject(value, keys: ["name", "publicUrl", "listen", "dataDir"]) else { return gateway }
        if let name = value["name"].flatMap({ text($0) }) {
            gateway.name = name
            if let value = value["name"], !NameRule.allows(name) { note(value, "this is no name: " + NameRule.words) }
        }
        gateway.publicUrl = value["publicUrl"].flatMap { webAddress($0) }
        gateway.listen = value["listen"].flatMap { text($0) }
        gateway.dataDirectory = value["dataDir"].flatMap { text($0) }
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

    private mutating func sources(_ value: JSONValue) -> [SourceName: GatewayConfig.Source] {
        var sources: [SourceName: GatewayConfig.Source] = [:]
        for (name, value) in namedObjects(value) {
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
