import Foundation
import SignalboxTesting
import Testing

@testable import SignalboxStore

@Suite struct DataDirectoryTests {
    @Test func hasOneOwnerAtATime() async throws {
        try await withTemporaryDirectory { path in
            var first: DataDirectory? = try DataDirectory(path: path + "/data")
            #expect(throws: StoreError.inUse(path: path + "/data", by: "\(getpid())")) {
                _ = try DataDirectory(path: path + "/data")
            }
            #expect(first?.path == path + "/data")
            first = nil
            _ = try DataDirectory(path: path + "/data")
        }
    }

    @Test func keepsAKeyForItsOwnerOnly() async throws {
        try await withTemporaryDirectory { path in
            let directory = try DataDirectory(path: path)
            #expect(try directory.key("token.key") { [1, 2, 3] } == [1, 2, 3])
            #expect(try directory.key("token.key") { [9, 9, 9] } == [1, 2, 3])
            #expect(throws: StoreError.self) { try directory.key("token.key") { [9] } }
            let attributes = try FileManager.default.attributesOfItem(atPath: path + "/token.key")
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test func saysWhyADirectoryCannotBeMade() async throws {
        try await withTemporaryDirectory { path in
            try Data().write(to: URL(fileURLWithPath: path + "/file"))
            #expect {
                _ = try DataDirectory(path: path + "/file/data")
            } throws: {
                if case .directory = $0 as? StoreError { true } else { false }
            }
        }
    }
}
