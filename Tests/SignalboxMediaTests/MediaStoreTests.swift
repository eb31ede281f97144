import Foundation
import SignalboxGateway
import SignalboxTesting
import Synchronization
import Testing

@Suite struct MediaStoreTests {
    private static let hello = Array("hello".utf8)
    private static let name = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

    @Test func keepsAFileUnderTheDigestOfItsBytes() async throws {
        try await withTemporaryDirectory { directory in
            let store = MediaStore(directory: directory + "/media")
            let media = try store.keep(Self.hello)
            #expect(media.sha256 == Self.name && media.bytes == 5)
            #expect(store.path(of: media) == "\(directory)/media/2c/f2/\(Self.name)")
            #expect(store.find(Self.name) == media)
            #expect(try store.read(media) == Self.hello)
            #expect(try store.read(media, upTo: 2) == Array("he".utf8))
        }
    }

    @Test func keepsAFileOnce() async throws {
        try await withTemporaryDirectory { directory in
            let store = MediaStore(directory: directory)
            let path = store.path(of: try store.keep(Self.hello))
            let before = try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int
            _ = try store.keep(Self.hello)
            let after = try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int
            #expect(before == after && before != nil)
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory + "/unfinished").isEmpty)
        }
    }

    /// Records synced folders. A class because the store and the test share it.
    private final class Syncs: Sendable {
        private let state = Mutex((folders: [String](), failures: 0))

        init(failures: Int = 0) { state.withLock { $0.failures = failures } }

        func sync(_ folder: String) throws(MediaError) {
            let fails = state.withLock { state in
                state.folders.append(folder)
                state.failures -= 1
                return state.failures >= 0
            }
            if fails { throw MediaError(reason: "the disk fails") }
        }

        func take() -> [String] {
            state.withLock { state in
                defer { state.folders = [] }
                return state.folders
            }
        }
    }

    @Test func syncsEveryFolderOfThePath() async throws {
        try await withTemporaryDirectory { directory in
            let media = directory + "/media"
            let all = [directory, media, media + "/2c", media + "/2c/f2"]
            let syncs = Syncs()
            let store = MediaStore(directory: media, sync: syncs.sync)
            _ = try store.keep(Self.hello)
            #expect(syncs.take() == all)
            _ = try store.keep(Self.hello)
            #expect(syncs.take() == all.suffix(1), "each folder above is synced once")
            // The process that made the folders may have crashed before its sync.
            _ = try MediaStore(directory: media, sync: syncs.sync).keep(Self.hello)
            #expect(syncs.take() == all)
        }
    }

    @Test func retriesFailedFolderSyncs() async throws {
        try await withTemporaryDirectory { directory in
            let syncs = Syncs(failures: 1)
            let store = MediaStore(directory: directory + "/media", sync: syncs.sync)
            #expect(throws: MediaError.self) { try store.keep(Self.hello) }
            #expect(syncs.take() == [directory])
            _ = try store.keep(Self.hello)
            #expect(syncs.take().first == directory)
        }
    }

    @Test func removesOldUnknownFiles() async throws {
        try await withTemporaryDirectory { directory in
            let store = MediaStore(directory: directory + "/media")
            let none: ([String]) async throws -> Set<String> = { _ in [] }
            #expect(try await store.removeUnknown(olderThan: Date(), known: none) == 0, "the store is empty")
            let (old, again, young) = (try store.keep([1]), try store.keep([2]), try store.keep([3]))
            let foreign = directory + "/media/2c/README"
            try FileManager.default.createDirectory(
                atPath: directory + "/media/2c/f2", withIntermediateDirectories: true)
            try Data().write(to: URL(fileURLWithPath: foreign))
            for path in [store.path(of: old), store.path(of: again), foreign] {
                try FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSinceNow: -1000)], ofItemAtPath: path)
            }
            _ = try store.keep([2])
            let limit = Date(timeIntervalSinceNow: -500)
            let all: ([String]) async throws -> Set<String> = { Set($0) }
            #expect(try await store.removeUnknown(olderThan: limit, known: all) == 0, "known files stay")
            #expect(try await store.removeUnknown(olderThan: limit, known: none) == 1)
            #expect(store.find(old.sha256) == nil)
            #expect(store.find(again.sha256) == again && store.find(young.sha256) == young)
            #expect(FileManager.default.fileExists(atPath: foreign))
            #expect(try store.keep([1]) == old)
            #expect(try store.read(old) == [1])
        }
    }

    @Test func removesOldNamedFiles() async throws {
        try await withTemporaryDirectory { directory in
            let store = MediaStore(directory: directory + "/media")
            let (old, again) = (try store.keep([1]), try store.keep([2]))
            for file in [old, again] {
                try FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSinceNow: -1000)], ofItemAtPath: store.path(of: file))
            }
            _ = try store.keep([2])
            let names = [old.sha256, again.sha256, String(repeating: "0", count: 64), "../../2c"]
            #expect(try await store.remove(names, olderThan: Date(timeIntervalSinceNow: -500)) == 1)
            #expect(store.find(old.sha256) == nil && store.find(again.sha256) == again)
        }
    }

    /// While a gateway writes to the directory.
    @Test func readersLeaveUnfinishedFiles() async throws {
        try await withTemporaryDirectory { directory in
            let unfinished = directory + "/unfinished"
            try FileManager.default.createDirectory(atPath: unfinished, withIntermediateDirectories: true)
            try Data("hal".utf8).write(to: URL(fileURLWithPath: unfinished + "/" + Self.name))
            _ = MediaStore(besideOwnerOf: directory)
            #expect(try FileManager.default.contentsOfDirectory(atPath: unfinished) == [Self.name])
        }
    }

    @Test func replacesShortenedFiles() async throws {
        try await withTemporaryDirectory { directory in
            let store = MediaStore(directory: directory)
            let path = store.path(of: try store.keep(Self.hello))
            try Data("hel".utf8).write(to: URL(fileURLWithPath: path))
            let again = try store.keep(Self.hello)
            #expect(try store.read(again) == Self.hello)
        }
    }

    @Test func keepsEmptyAndLargeFiles() async throws {
        try await withTemporaryDirectory { directory in
            let store = MediaStore(directory: directory)
            for bytes in [[], [UInt8](repeating: 7, count: 3_000_000)] {
                let media = try store.keep(bytes)
                #expect(try store.read(media) == bytes)
            }
        }
    }

    @Test(arguments: [
        "", "..", "../../etc/passwd", "2cf24dba", name.uppercased(), name + "0", String(name.dropLast()) + "/",
        String(repeating: "0", count: 64), String(name.dropLast()) + "g",
    ])
    func findsOnlyItsOwnDigests(_ asked: String) async throws {
        try await withTemporaryDirectory { directory in
            let store = MediaStore(directory: directory)
            _ = try store.keep(Self.hello)
            #expect(store.find(asked) == nil)
        }
    }

    @Test func removesUnfinishedFilesOfACrash() async throws {
        try await withTemporaryDirectory { directory in
            let unfinished = directory + "/unfinished"
            try FileManager.default.createDirectory(atPath: unfinished, withIntermediateDirectories: true)
            try Data("hal".utf8).write(to: URL(fileURLWithPath: unfinished + "/" + Self.name))
            let store = MediaStore(directory: directory)
            #expect(store.find(Self.name) == nil)
            #expect(try FileManager.default.contentsOfDirectory(atPath: unfinished).isEmpty)
        }
    }

    @Test func removesUnfinishedFilesOfACrashInTheBackground() async throws {
        try await withTemporaryDirectory { directory in
            let unfinished = directory + "/unfinished"
            try FileManager.default.createDirectory(atPath: unfinished, withIntermediateDirectories: true)
            try Data("hal".utf8).write(to: URL(fileURLWithPath: unfinished + "/" + Self.name))
            let store = MediaStore(directory: directory, isRemote: true)
            let own = try store.begin()
            while FileManager.default.fileExists(atPath: unfinished + "/" + Self.name) { await Task.yield() }
            #expect(try FileManager.default.contentsOfDirectory(atPath: unfinished).count == 1)
            own.discard()
            #expect(try FileManager.default.contentsOfDirectory(atPath: unfinished).isEmpty)
        }
    }

    @Test func keepsRecentUnfinishedFilesOfOtherProcesses() async throws {
        try await withTemporaryDirectory { directory in
            let unfinished = directory + "/unfinished"
            try FileManager.default.createDirectory(atPath: unfinished, withIntermediateDirectories: true)
            for name in ["old", "recent"] {
                try Data("hal".utf8).write(to: URL(fileURLWithPath: unfinished + "/" + name))
            }
            let date = Date(timeIntervalSinceNow: -90_000)
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: unfinished + "/old")
            let store = MediaStore(directory: directory, isShared: true)
            while FileManager.default.fileExists(atPath: unfinished + "/old") { await Task.yield() }
            #expect(FileManager.default.fileExists(atPath: unfinished + "/recent"))
            #expect(store.find(Self.name) == nil)
        }
    }

    /// A process that crashed starts again at once, when its unfinished files are recent.
    @Test(arguments: [true, false]) func sweepsOldUnfinishedFilesOfSharedDirectories(isShared: Bool) async throws {
        try await withTemporaryDirectory { directory in
            let store = MediaStore(directory: directory, isShared: isShared)
            let unfinished = directory + "/unfinished"
            try FileManager.default.createDirectory(atPath: unfinished, withIntermediateDirectories: true)
            for name in ["old", "recent"] {
                try Data("hal".utf8).write(to: URL(fileURLWithPath: unfinished + "/" + name))
            }
            let date = Date(timeIntervalSinceNow: -90_000)
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: unfinished + "/old")
            #expect(try await store.removeUnknown(olderThan: Date(timeIntervalSinceNow: -500)) { _ in [] } == 0)
            let left = try FileManager.default.contentsOfDirectory(atPath: unfinished).sorted()
            #expect(left == (isShared ? ["recent"] : ["old", "recent"]))
        }
    }

    @Test func reportsStorageErrors() async throws {
        try await withTemporaryDirectory { directory in
            try Data().write(to: URL(fileURLWithPath: directory + "/media"))
            let store = MediaStore(directory: directory + "/media")
            #expect(throws: MediaError.self) { try store.keep(Self.hello) }
        }
    }

    @Test func concurrentWritersKeepOneFile() async throws {
        try await withTemporaryDirectory { directory in
            let store = MediaStore(directory: directory)
            try await withThrowingTaskGroup(of: StoredMedia.self) { group in
                for _ in 0..<32 { group.addTask { try store.keep(Self.hello) } }
                for try await media in group { #expect(try store.read(media) == Self.hello) }
            }
        }
    }
}
