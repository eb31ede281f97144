import Foundation
import SignalboxNotification
import Testing

/// A file below `Fixtures/kinds/<kind>/` with its expected properties. Tests read all of them.
struct MediaFixture: Sendable, CustomStringConvertible {
    let kind: MediaKind
    let name: String
    let path: String
    let bytes: [UInt8]
    let expected: Expected

    /// The contents of `NAME.expected.json`, which `Tests/make-media.py` wrote with other programs.
    struct Expected: Decodable, Sendable {
        let contentType: String
        let family: String?
        let `extension`: String
        let width: Int?
        let height: Int?
    }

    var description: String { "\(kind)/\(name)" }

    static func all() throws -> [MediaFixture] {
        let root = try #require(Bundle.module.url(forResource: "Fixtures/kinds", withExtension: nil))
        return try FileManager.default.contentsOfDirectory(atPath: root.path).sorted().flatMap { folder in
            let kind = try #require(MediaKind(rawValue: folder), "the folder \(folder) is named after a kind")
            let directory = root.appendingPathComponent(folder, isDirectory: true)
            return try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
                .filter { !$0.hasSuffix(".expected.json") }
                .map { name in
                    let file = directory.appendingPathComponent(name)
                    let expected = try Data(contentsOf: directory.appendingPathComponent(name + ".expected.json"))
                    return MediaFixture(
                        kind: kind, name: name, path: file.path, bytes: [UInt8](try Data(contentsOf: file)),
                        expected: try JSONDecoder().decode(Expected.self, from: expected))
                }
        }
    }
}
