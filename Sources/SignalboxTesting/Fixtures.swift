package import Foundation

/// A pair of files: an input and its expected output.
///
/// Fixtures are found, not listed: `Fixtures/<folder>/<case>.json` and next to it `<case>.expected.json`. A new case
/// is a new pair of files; no list must be edited.
package struct Fixture: Sendable, CustomStringConvertible {
    /// The component it belongs to.
    package let folder: String
    /// The file's name without its extension.
    package let name: String
    /// The content of the input file.
    package let input: [UInt8]
    /// The content of the expected file.
    package let expected: [UInt8]

    package var description: String { folder + "/" + name }

    /// Every fixture below a test bundle's folder `Fixtures`, or another `root`, in alphabetical order. An input
    /// without its expected output is an error.
    package static func all(in bundle: Bundle, root: String = "Fixtures") throws -> [Fixture] {
        try folders(in: bundle, root: root).flatMap { try all(in: bundle, folder: $0, root: root) }
    }

    /// The same, of one folder.
    package static func all(in bundle: Bundle, folder: String, root: String = "Fixtures") throws -> [Fixture] {
        let directory = try url(of: root, in: bundle).appendingPathComponent(folder, isDirectory: true)
        return try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
            .filter { $0.hasSuffix(".json") && !$0.hasSuffix(".expected.json") }
            .map { try Fixture(folder: folder, name: String($0.dropLast(".json".count)), in: directory) }
    }

    /// The names of the folders, in alphabetical order. Folders without fixtures are listed too.
    package static func folders(in bundle: Bundle, root: String = "Fixtures") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: url(of: root, in: bundle).path).sorted()
    }

    /// A folder of a test bundle. Throws if there is none.
    static func url(of root: String, in bundle: Bundle) throws -> URL {
        guard let url = bundle.url(forResource: root, withExtension: nil) else {
            throw CocoaError(.fileNoSuchFile)
        }
        return url
    }

    private init(folder: String, name: String, in directory: URL) throws {
        self.folder = folder
        self.name = name
        input = try [UInt8](Data(contentsOf: directory.appendingPathComponent(name + ".json")))
        expected = try [UInt8](Data(contentsOf: directory.appendingPathComponent(name + ".expected.json")))
    }
}
