import Foundation
import SignalboxJSON
import Testing

@testable import SignalboxNotification

/// The files below `Fixtures/<folder>`, found, not listed.
enum ActionFixtures {
    static func files(in folder: String) throws -> [(name: String, text: [UInt8])] {
        guard let root = Bundle.module.url(forResource: "Fixtures", withExtension: nil) else {
            throw CocoaError(.fileNoSuchFile)
        }
        let directory = root.appendingPathComponent(folder, isDirectory: true)
        return try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted().map { name in
            (String(name.dropLast(5)), try [UInt8](Data(contentsOf: directory.appendingPathComponent(name))))
        }
    }

    /// Hands over each element of the list that a file holds.
    static func forEach(in text: [UInt8], _ body: (JSONValue) throws -> Void) throws {
        let parser = JSONParser()
        let root = try parser.parse(text)
        try withExtendedLifetime(parser) {
            if root.isArray { for value in root.elements { try body(value) } } else { try body(root) }
        }
    }
}

extension Action {
    /// As events spell it.
    init(_ value: JSONValue) throws {
        let type = try #require(value["type"]?.string.flatMap { ActionType(rawValue: $0) })
        self.init(
            type, value: value["value"]?.string, vendorType: value["vendorType"]?.string,
            arguments: value["arguments"].map { JSONText($0) })
    }
}
