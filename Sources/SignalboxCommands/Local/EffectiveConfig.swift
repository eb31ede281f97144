package import SignalboxConfig
import SignalboxGateway
import SignalboxJSON

/// The output of `signalbox config show`: the settings with their origins, and the values of the config.
/// Secrets are hidden.
package struct EffectiveConfig: Sendable {
    /// A setting of the process.
    package struct Setting: Sendable, Equatable {
        /// The origin of a value. Raw values are words of the output.
        package enum Origin: String, Sendable { case flag, environment, config, `default` }

        /// The name of its option, without dashes.
        package let name: String
        /// As the origin spells it, except for a store, which is shown without its user.
        package let value: String
        /// The origin that decides, even if a weaker origin has the same value.
        package let from: Origin

        /// The first of the flag, the environment and the config that is set counts, otherwise the default.
        package init(
            _ name: String, _ flag: String?, _ environment: String?, _ config: String?, else standard: String
        ) {
            self.name = name
            let found: (String, Origin) =
                if let flag { (flag, .flag) } else if let environment { (environment, .environment) } else if let config
                { (config, .config) } else { (standard, .default) }
            (value, from) = found
        }
    }

    private let settings: [Setting]
    /// Masked when it is made, so no later step can show a secret.
    private let listing: ConfigListing

    /// `files`: those of a config without errors; none for a config that does not exist.
    package init(_ settings: [Setting], _ files: [ConfigText]) {
        self.settings = settings
        listing = ConfigListing(files)
    }

    /// The settings, then each value with its JSON Pointer and its file, or `default`. Lines have no line end.
    package var lines: [String] {
        let rows =
            settings.map { [$0.name, $0.from.rawValue, $0.value] }
            + listing.entries.map { [$0.pointer, $0.file ?? "default", $0.value] }
        return TextTable.lines(rows.map { $0.map { EventLine.printable($0) } }).split(separator: "\n").map(String.init)
    }

    /// One object with the members `settings` and `values`.
    package var json: String {
        JSONText.members { json in
            json.object("settings") { json in
                for setting in settings {
                    json.key(setting.name)
                    json.beginObject()
                    json.member("value", setting.value)
                    json.member("from", setting.from.rawValue)
                    json.endObject()
                }
            }
            json.objects("values", of: listing.entries) { json, entry in
                json.member("pointer", entry.pointer)
                json.member("value", raw: Array(entry.value.utf8))
                json.member("from", entry.file ?? "default")
            }
        }
    }
}
