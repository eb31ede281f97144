package import Foundation

/// A file below `Fixtures`, and its expected output if there is one.
package struct FixtureFile: Sendable, CustomStringConvertible {
    /// The file's name without its extension.
    package let name: String
    /// The content of the file.
    package let bytes: [UInt8]
    /// The text of `<name>.expected.txt` or `<name>.expected.json` next to it; empty without either. Compared as
    /// text, so its line ends count.
    package let expected: String

    package var description: String { name }

    /// Every `*.json` of a folder in alphabetical order, except expected outputs. Throws for a missing folder.
    package static func all(in bundle: Bundle, folder: String) throws -> [FixtureFile] {
        let directory = try Fixture.url(of: "Fixtures", in: bundle).appendingPathComponent(folder, isDirectory: true)
        return try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
            .filter { $0.hasSuffix(".json") && !$0.hasSuffix(".expected.json") }
            .map { name in
                let base = String(name.dropLast(".json".count))
                let expected = [".expected.txt", ".expected.json"].lazy
                    .compactMap {
                        try? String(contentsOf: directory.appendingPathComponent(base + $0), encoding: .utf8)
                    }
                return try FixtureFile(
                    name: base, bytes: [UInt8](Data(contentsOf: directory.appendingPathComponent(name))),
                    expected: expected.first ?? "")
            }
    }
}
