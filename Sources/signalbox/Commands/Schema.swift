import ArgumentParser
import SignalboxConfig
import SignalboxGateway
import SignalboxNotification

/// The same text that a gateway serves at `/schemas`, with the names of events; only this command prints `config` and
/// `detector`. All of them are JSON Schema, version 2020-12.
struct Schema: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the JSON Schema of an event, of an in-app message, of the config, or of a vendor in a config.")

    /// In the order of the help.
    private static let names = EventSchema.names + ["config", "detector"]

    /// Checked when the command runs. One of ``names``; without the suffix `-1.json` of the HTTP endpoint.
    @Argument(help: "Name of the schema: \(names.joined(separator: ", ")).", completion: .list(names))
    var name: String

    /// Throws a `ValidationError` that lists the known names. The text has its own final line end, so none is added.
    func run() throws {
        let text =
            switch name {
            case "config": Array(ConfigSchema.text.utf8)
            case "detector": Catalogue.entrySchema
            default: EventSchema.text(named: name)
            }
        guard let text else {
            throw ValidationError("Unknown schema \(name). Known: \(Self.names.joined(separator: ", ")).")
        }
        print(String(decoding: text, as: UTF8.self), terminator: "")
    }
}
