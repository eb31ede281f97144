import Foundation
import SignalboxTesting
import Synchronization
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

    /// Otherwise two gateways would send the same deliveries.
    @Test func hasOneOwnerAlthoughTheFileOfTheLockIsRemoved() async throws {
        try await withTemporaryDirectory { path in
            var first: DataDirectory? = try DataDirectory(path: path)
            try FileManager.default.removeItem(atPath: path + "/lock")
            for _ in 1...2 {
                #expect(throws: StoreError.inUse(path: path, by: nil)) { _ = try DataDirectory(path: path) }
            }
            #expect(first?.path == path)
            first = nil
            _ = try DataDirectory(path: path)
        }
    }

    @Test func waitsForAnOwnerThatEnds() async throws {
        try await withTemporaryDirectory { path in
            let first = Mutex<DataDirectory?>(try DataDirectory(path: path))
            async let second = withCheckedThrowingContinuation {
                (done: CheckedContinuation<DataDirectory, any Error>) in
                Thread.detachNewThread {
                    done.resume(with: Result { try DataDirectory(path: path, patience: .seconds(60)) })
                }
            }
            first.withLock { $0 = nil }
            #expect(try await second.path == path)
        }
    }

    /// Other code opens files meanwhile. The system gives it the numbers of closed descriptors.
    @Test func closesOnlyItsOwnDescriptorWhenItIsInUse() async throws {
        try await withTemporaryDirectory { path in
            let owner = try DataDirectory(path: path)
            let isOver = Mutex(false)
            async let lost = withCheckedContinuation { (done: CheckedContinuation<Int, Never>) in
                Thread.detachNewThread {
                    var lost = 0
                    while !isOver.withLock(\.self) {
                        let file = open("/dev/null", O_RDONLY | O_CLOEXEC)
                        if file >= 0, close(file) != 0 { lost += 1 }
                    }
                    done.resume(returning: lost)
                }
            }
            for _ in 0..<5000 { #expect(throws: StoreError.self) { _ = try DataDirectory(path: path) } }
            isOver.withLock { $0 = true }
            #expect(await lost == 0)
            withExtendedLifetime(owner) {}
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

    /// A power cut may remove names from a directory that was not synced.
    @Test func syncsNewDirectoriesAndKeys() async throws {
        try await withTemporaryDirectory { path in
            let synced = Mutex<[String]>([])
            func open() throws -> DataDirectory {
                try DataDirectory(path: path + "/a/data") { folder in synced.withLock { $0.append(folder) } }
            }
            func take() -> [String] {
                synced.withLock { folders in
                    defer { folders = [] }; return folders
                }
            }
            var directory: DataDirectory? = try open()
            #expect(take() == [path + "/a", path])
            _ = try directory?.key("token.key") { [1, 2, 3] }
            #expect(take() == [path + "/a/data"])
            directory = nil
            directory = try open()
            #expect(take().isEmpty)
            // The process that made the key may have crashed before its sync.
            _ = try directory?.key("token.key") { [1, 2, 3] }
            #expect(take() == [path + "/a/data"])
        }
    }

    @Test func doesNotUseAKeyThatMayNotBeOnDisk() async throws {
        try await withTemporaryDirectory { path in
            let failure = StoreError.directory(path: path, reason: "I/O error")
            let directory = try DataDirectory(path: path) { (_) throws(StoreError) in throw failure }
            #expect(throws: failure) { try directory.key("token.key") { [1, 2, 3] } }
        }
    }

    @Test func syncsAnEntryOfTheDisk() async throws {
        try await withTemporaryDirectory { path in
            try DataDirectory.sync(path)
            #expect(throws: StoreError.self) { try DataDirectory.sync(path + "/missing") }
        }
    }

    @Test func namesTheReasonWhenADirectoryCannotBeMade() async throws {
        try await withTemporaryDirectory { path in
            try Data().write(to: URL(fileURLWithPath: path + "/file"))
            let data = path + "/file/data"
            #expect(throws: StoreError.directory(path: data, reason: "it cannot be created: Not a directory")) {
                _ = try DataDirectory(path: data)
            }
        }
    }
}
