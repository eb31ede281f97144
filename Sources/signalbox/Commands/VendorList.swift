import ArgumentParser
import SignalboxCommands
import SignalboxNotification

/// Prints the registry that the gateway uses; `--markdown` makes the table of the documentation. Includes the vendors
/// of the built-in catalogue.
struct VendorList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vendors", abstract: "List recognised vendors and their evidence.")

    /// For docs/reference/vendors.md.
    @Flag(help: "Print a Markdown table.")
    var markdown = false
    @Flag(help: "Print one JSON object per line.") var json = false

    /// Needs no config: vendors that a config adds are not listed. In the order of the detector chain, which decides
    /// between equal evidence.
    func run() {
        if markdown { return print(Vendors.markdown) }
        for line in Results.vendors(asJSON: json) { print(line) }
    }
}
