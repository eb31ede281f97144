import ArgumentParser
import SignalboxConfig
import SignalboxGateway
import SignalboxNotification

/// The same text that a gateway serves at `/schemas`, with the names of events; only this command prints `config` and
/// `detector`.
struct Schema: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the JSON Schema of an event, of an in-app message, of the config, or of a vendor in a config.")

    private static let names = EventSchema.names + ["config", "detector"]

    @Argument(help: "Name of the schema: \(names.joined(separator: ", ")).", completion: .list(names))
    var name: String

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
