import ArgumentParser
import SignalboxCommands

/// Reads no config and no environment.
struct Init: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Write a commented config to begin with.",
        discussion: "Every event goes to the terminal of serve. An existing file is never changed.")

    @Argument(help: "The file to write.", completion: .file(extensions: ["json"])) var file = "routes.json"

    /// Exits with 2 if the file exists or cannot be written.
    func run() throws {
        try StarterConfig.write(to: file)
        let option = file == "routes.json" ? "" : " --config \(file)"
        print("\(file) written. Start the gateway with: signalbox serve\(option)")
    }
}
