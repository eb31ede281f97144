import Foundation

/// A found file below `Fixtures`.
struct FixtureFile: Sendable, CustomStringConvertible {
    let name: String
    let bytes: [UInt8]
    /// Contents of the expected output next to it; empty if there is none.
    let expected: String

    var description: String { name }

    /// Every `*.json` of a folder in alphabetical order, without expected outputs.
    static func all(in folder: String) throws -> [FixtureFile] {
        guard let root = Bundle.module.url(forResource: "Fixtures", withExtension: nil) else {
            throw CocoaError(.fileNoSuchFile)
        }
        let directory = root.appendingPathComponent(folder, isDirectory: true)
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
