import ArgumentParser
import Foundation
import SignalboxModel
import SignalboxVendors

struct VendorList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vendors", abstract: "List who is recognised, and by which evidence.")

    func run() {
        let width = Vendors.all.map(\.vendor.name.count).max() ?? 0
        for detector in Vendors.all {
            print(detector.vendor.name.padding(toLength: width + 2, withPad: " ", startingAt: 0) + detector.looksFor)
        }
    }
}
