import ArgumentParser
import SignalboxCommands
import SignalboxConfig
import SignalboxGateway
import SignalboxNotification
import SignalboxServer

/// The same text that a gateway serves at `/schemas`, with the names of events. `config` is `routes.json` there; only
/// this command prints `detector`. All of them are JSON Schema, version 2020-12. `openapi` is the document that a
/// gateway serves at `/openapi.json`, on several lines.
struct Schema: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract:
            "Print the JSON Schema of an event, an in-app message, the config or a vendor in it, or the API's OpenAPI.")

    /// In the order of the help.
    private static let names = EventSchema.names + ["config", "detector", "openapi"]

    /// One of ``names``; without the suffix `-1.json` of the HTTP endpoint.
    @Argument(help: "Name of the schema: \(names.joined(separator: ", ")).", completion: .list(names))
    var name: String

    /// Throws a `ValidationError` that suggests a known name, or lists them.
    func validate() throws {
        guard !Self.names.contains(name) else { return }
        throw ValidationError(
            KnownNames.refusal(
                "schema", name, among: Self.names, else: "Known: \(Self.names.joined(separator: ", "))."))
    }

    /// The text has its own final line end, so none is added.
    func run() {
        let text =
            switch name {
            case "config": Array(ConfigSchema.text.utf8)
            case "detector": Catalogue.entrySchema
            case "openapi": Array((OpenAPIDocument.node(version: Version.current).pretty() + "\n").utf8)
            default: EventSchema.text(named: name)
            }
        guard let text else { preconditionFailure("Each known name has a schema.") }
        print(String(decoding: text, as: UTF8.self), terminator: "")
    }
}
