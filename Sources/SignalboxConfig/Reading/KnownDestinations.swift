import SignalboxJSON
import SignalboxNotification

/// The declared destinations: in the config's order, and as a set for lookups. Made from the parsed text before any
/// option is read, so routes may come first.
struct KnownDestinations: Sendable {
    /// With the location of each key; a name that is declared twice is there twice.
    let declared: [(name: DestinationName, location: ConfigLocation)]
    /// The same names, for lookups.
    private let names: Set<String>

    /// `roots`: the value of each file. Names are not checked here.
    init(in roots: [JSONValue]) {
        var declared: [(name: DestinationName, location: ConfigLocation)] = []
        for (file, root) in roots.enumerated() {
            guard let destinations = Self.destinations(in: root) else { continue }
            for (key, _) in destinations.members {
                let name = String(decoding: key, as: UTF8.self)
                let location = ConfigLocation(file: file, pointer: "/destinations").appending(name, isKey: true)
                declared.append((DestinationName(name), location))
            }
        }
        self.declared = declared
        names = Set(declared.map(\.name.name))
    }

    /// The option `destinations` of a file, or one whose key is a misspelling of it: that is an error of its own, and
    /// the destinations in it are not missing.
    private static func destinations(in root: JSONValue) -> JSONValue? {
        if let destinations = root["destinations"] { return destinations }
        let known = GatewayConfig.options.options.map(\.info.key)
        return root.members.prefix(ConfigDiagnostics.most).first { key, _ in
            Spelling.nearest(to: String(decoding: key, as: UTF8.self), among: known) == "destinations"
        }?.1
    }

    /// Whether a name is declared.
    func contains(_ name: String) -> Bool { names.contains(name) }

    /// Advice for a name that is not declared. It continues an error, from the semicolon on. Compares the name with all
    /// others, so it is made for listed errors only.
    func advice(for name: String) -> String {
        guard !names.isEmpty else { return "; add one under \"destinations\"" }
        return ConfigReader.suggestion(for: name, among: declared.map(\.name.name))
    }
}
