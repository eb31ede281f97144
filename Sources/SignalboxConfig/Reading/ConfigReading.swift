import SignalboxJSON
import SignalboxNotification

/// A config while it is read: its values, and the errors and warnings so far.
///
/// SignalboxRouting compiles patterns and templates from the values and adds its own findings; ``finish()`` then either
/// returns the config or throws all errors.
package struct ConfigReading: Sendable {
    /// The config's own file first.
    package let files: [ConfigText]
    /// Values with errors have their defaults until ``finish()``.
    package var config: GatewayConfig
    /// SignalboxRouting appends its findings here.
    package var diagnostics: ConfigDiagnostics
    /// Names that routes may use, with their locations.
    private let destinations: KnownDestinations

    /// Reads the config's own file, and after it those that only add sources, destinations and routes. Throws at once
    /// when a file is not JSON or the files are too large, because its declarations would seem to be missing. Traps
    /// for no file, and for more files than ``ConfigFiles`` reads.
    package init(_ files: [ConfigText]) throws(InvalidConfig) {
        let most = ConfigFiles.mostParts + 1
        precondition((1...most).contains(files.count), "A config is read from too few or too many files.")
        if let large = ConfigMistake(sizeOf: files) { throw InvalidConfig(mistakes: [large]) }
        var limits = JSONParser.Limits()
        limits.documents = most
        let parser = JSONParser(limits: limits)
        var roots: [JSONValue] = []
        var faults: [ConfigMistake] = []
        for (position, file) in files.enumerated() {
            do throws(JSONError) {
                roots.append(try parser.parse(file.bytes))
            } catch {
                faults.append(ConfigMistake(error, file: position, in: file.bytes))
            }
        }
        guard faults.isEmpty else { throw InvalidConfig(mistakes: faults) }
        var reader = ConfigReader(parser: parser, roots: roots)
        config = reader.config()
        self.files = files
        diagnostics = reader.diagnostics
        destinations = reader.destinations
    }

    /// Makes the declarations of all options. Otherwise the first config of a process does so.
    package static func prepare() { _ = GatewayConfig.options }

    /// The config with its warnings. Throws when there are errors. Warns about destinations that no route, fallback
    /// or action names. Warnings are in the config, in the order of files and positions.
    package func finish() throws(InvalidConfig) -> GatewayConfig {
        try diagnostics.throwErrors(in: files, naming: config.origin.files)
        var (config, diagnostics) = (config, diagnostics)
        let used = Set(
            config.routes.flatMap(\.destinations) + config.fallback
                + config.actions.custom.values.flatMap(\.destinations))
        for (name, location) in destinations.declared where !used.contains(name) {
            diagnostics.warning(
                at: location, "no route delivers to \"\(name)\"; name it under \"to\" of a route, or remove it")
        }
        config.warnings = diagnostics.mistakes(in: files)
        return config
    }
}

/// Checks that concern several options or files.
extension ConfigReader {
    /// The values of all files. Values of several files are combined in the order of the files. Options that depend on
    /// each other are checked after all files have been read. Requests for permission without an origin receive the one
    /// of the gateway.
    fileprivate mutating func config() -> GatewayConfig {
        var config = GatewayConfig()
        for (file, root) in roots.enumerated() {
            (file == 0 ? GatewayConfig.options : GatewayConfig.partOptions).read(root, into: &config, &self)
        }
        if config.routes.count > ConfigBounds.routes {
            diagnostics.error(
                at: ConfigLocation(pointer: "/routes"),
                "all files have more than \(ConfigBounds.routes) routes; remove some")
        }
        checkNames(of: config.routes)
        checkPayloads(config)
        for index in config.destinations.indices {
            guard case .webhook(var webhook) = config.destinations[index].endpoint else { continue }
            guard webhook.handshake?.origin == "" else { continue }
            webhook.handshake?.origin = config.gateway.origin
            config.destinations[index].endpoint = .webhook(webhook)
        }
        config.origin.files =
            templateFiles + (config.gateway.environmentFile.map { [$0] } ?? [])
            + (config.gateway.listen.tls?.files ?? [])
            + config.sources.values.flatMap { $0.upstream?.files ?? [] }
        return config
    }

    /// Route names label metrics and receipts, so they are unique over all files. Routes without a name have an error
    /// already.
    private mutating func checkNames(of routes: [RouteOptions]) {
        var names: [String: ConfigLocation] = [:]
        for route in routes where !route.name.isEmpty {
            let location = route.location.appending("name")
            guard let other = names.updateValue(location, forKey: route.name) else { continue }
            diagnostics.error(
                at: location, "there are two routes named \"\(route.name)\"; rename one",
                also: [(other, "the other one is here")])
        }
    }

    /// A payload in its original form can be neither redacted nor transformed.
    private mutating func checkPayloads(_ config: GatewayConfig) {
        let raw = Set(config.destinations.filter(\.wantsPayload).map(\.name))
        for route in config.routes where !route.redactions.isEmpty || route.transform != nil {
            let change = route.redactions.isEmpty ? "transformed" : "redacted"
            for (position, name) in route.destinations.enumerated() where raw.contains(name) {
                diagnostics.error(
                    at: route.location.appending("to").appending("\(position)"),
                    "\"\(name)\" receives the original payload (\"raw\"), which cannot be \(change); give the "
                        + "destination another format, or leave it out here")
            }
        }
    }
}
