import Foundation
import SignalboxNotification

/// The inputs of the other targets' fixtures: every example payload of the project.
struct PayloadFixture: Sendable, CustomStringConvertible {
    let description: String
    let input: [UInt8]
    /// The `data` that the vendors' tests expect; nil for fixtures of other targets.
    let data: [UInt8]?
    /// The vendor that the config must name for the source, because the payload does not show it.
    let vendor: VendorID?

    static func all() throws -> [PayloadFixture] {
        try ["SignalboxVendorsTests", "SignalboxPlatformsTests"].flatMap { try all(in: $0) }
    }

    /// The inputs in a folder of a target.
    static func all(in target: String, folder: String = "Fixtures") throws -> [PayloadFixture] {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let root = tests.appendingPathComponent(target + "/" + folder, isDirectory: true)
        return try FileManager.default.subpathsOfDirectory(atPath: root.path).sorted()
            .filter { $0.hasSuffix(".json") && !$0.hasSuffix(".expected.json") }
            .map { path in
                let expected = root.appendingPathComponent(String(path.dropLast(5)) + ".expected.json")
                return try PayloadFixture(
                    description: target + "/" + path,
                    input: [UInt8](Data(contentsOf: root.appendingPathComponent(path))),
                    data: target == "SignalboxVendorsTests" ? [UInt8](Data(contentsOf: expected)) : nil,
                    vendor: Vendors.namedBySource.first { path.hasPrefix($0 + "/") }.map { VendorID($0) })
            }
    }
}
