import ArgumentParser
import Foundation
import SignalboxNotification

struct VendorList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vendors", abstract: "List who is recognised, and by which evidence.")

    @Flag(help: "Print a table for a page of documentation.")
    var markdown = false

    func run() {
        if markdown { return print(Vendors.markdown) }
        let width = Vendors.profiles.map(\.vendor.name.count).max() ?? 0
        for profile in Vendors.profiles {
            print(profile.vendor.name.padding(toLength: width + 2, withPad: " ", startingAt: 0) + profile.looksFor)
        }
    }
}
