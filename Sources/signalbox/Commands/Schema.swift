import ArgumentParser
import SignalboxPipeline

struct Schema: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Print the JSON Schema of what the gateway sends.")

    @Argument(help: "Which one: \(EventSchema.names.joined(separator: ", ")).", completion: .list(EventSchema.names))
    var name: String

    func run() throws {
        guard let text = EventSchema.text(named: name) else {
            throw ValidationError("There is no schema \(name). Known: \(EventSchema.names.joined(separator: ", ")).")
        }
        print(String(decoding: text, as: UTF8.self), terminator: "")
    }
}
