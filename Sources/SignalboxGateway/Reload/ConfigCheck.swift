package import SignalboxConfig
import SignalboxNotification
import SignalboxRouting

/// The check of a config text, as `signalbox routes check` makes it. Resolves no secret and writes nothing.
package struct ConfigCheck: Sendable {
    /// The config; nil if it has errors.
    package let config: GatewayConfig?
    /// Errors and warnings in the order of the files and positions.
    package let mistakes: [ConfigMistake]
    /// The files that the mistakes refer to.
    package let files: [ConfigText]

    /// Checks a text in place of the config's own file. `folder`: further files of the config. Throws when these cannot
    /// be read. Blocks while it reads them, and templates that the text names.
    package init(_ text: [UInt8], named name: String, folder: String?) throws(ConfigRefusal) {
        let own = ConfigText(name: name, bytes: text)
        let texts = try folder.map { folder throws(ConfigRefusal) in try ConfigFiles(own, folder: folder).texts }
        self.init(texts ?? [own])
    }

    /// Checks the files of a config.
    package init(_ files: [ConfigText]) {
        self.files = files
        do throws(InvalidConfig) {
            let config = try RoutedConfig(checking: files).config
            (self.config, mistakes) = (config, config.warnings)
        } catch {
            (config, mistakes) = (nil, error.mistakes)
        }
    }

    /// All mistakes as a compiler prints them, and their number; empty without mistakes.
    package func report(hasColor: Bool) -> String {
        guard !mistakes.isEmpty else { return "" }
        let report = ConfigReport(of: files, hasColor: hasColor)
        return report.text(of: mistakes) + report.summary(of: mistakes)
    }

    /// The numbers of routes, destinations and sources, in words.
    package var words: String {
        guard let config else { return "cannot be used" }
        let counts = [
            Counted.words(config.routes.count, "route"), Counted.words(config.destinations.count, "destination"),
            Counted.words(config.sources.count, "source"),
        ]
        return "\(counts.joined(separator: ", ")): \(mistakes.isEmpty ? "nothing wrong" : "can be used")"
    }
}
