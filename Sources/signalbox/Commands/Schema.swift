import ArgumentParser
import SignalboxGateway
import SignalboxNotification

struct Schema: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the JSON Schema of an event, or of a vendor in a config.")

    private static let names = EventSchema.names + ["detector"]

    @Argument(help: "Name of the schema: \(names.joined(separator: ", ")).", completion: .list(names))
    var name: String

    func run() throws {
        guard let text = name == "detector" ? Catalogue.entrySchema : EventSchema.text(named: name) else {
            throw ValidationError("Unknown schema \(name). Known: \(Self.names.joined(separator: ", ")).")
        }
        print(String(decoding: text, as: UTF8.self), terminator: "")
    }
}
