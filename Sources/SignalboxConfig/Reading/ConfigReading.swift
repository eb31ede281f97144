package import SignalboxJSON
import SignalboxNotification

/// A config while it is read: its values, and what is wrong with them so far.
///
/// SignalboxRouting compiles patterns and templates from the values and adds its own findings; ``finish()`` then either
/// returns the config or throws all errors.
package struct ConfigReading: Sendable {
    /// The most files beside the config that are read with it.
    package static let mostParts = 200

    package let files: [ConfigText]
    package var config: GatewayConfig
    package var diagnostics: ConfigDiagnostics
    private let declaredDestinations: [(name: DestinationName, location: ConfigLocation)]

    /// Reads the config's own file, and after it those that only add sources, destinations and routes. Throws at once
    /// when a file is not JSON or the files are too large, because what such a file declares would seem to be missing.
    package init(_ files: [ConfigText]) throws(InvalidConfig) {
        precondition((1...Self.mostParts + 1).contains(files.count), "A config is read from too few or too many files.")
        if let large = ConfigMistake(sizeOf: files) { throw InvalidConfig(mistakes: [large]) }
        var limits = JSONParser.Limits()
        limits.documents = Self.mostParts + 1
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
        declaredDestinations = reader.declaredDestinations
    }

    /// The config with its warnings. Throws when there are errors.
    package func finish() throws(InvalidConfig) -> GatewayConfig {
        try diagnostics.throwErrors(in: files)
        var (config, diagnostics) = (config, diagnostics)
        let used = Set(
            config.routes.flatMap(\.destinations) + config.fallback
                + config.actions.custom.values.flatMap(\.destinations))
        for (name, location) in declaredDestinations where !used.contains(name) {
            diagnostics.warning(
                at: location, "nothing ever goes to \"\(name)\"; name it under \"to\" of a route, or remove it")
        }
        config.warnings = diagnostics.mistakes(in: files)
        return config
    }
}

extension ConfigReader {
    /// By JSON Pointer, the keys that objects of a config that is one text may have: for comparing them with the schema.
    package static func askedKeys(of text: [UInt8]) throws(JSONError) -> [(pointer: String, keys: [String])] {
        let parser = JSONParser()
        var reader = ConfigReader(parser: parser, roots: [try parser.parse(text)])
        _ = reader.config()
        return reader.askedKeys.map { (parser.pointer(to: $0.object), $0.keys) }
    }
}
