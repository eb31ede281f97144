import Foundation
import SignalboxGateway
import SignalboxNotification
import SignalboxTesting
import Testing

@Suite struct MediaWriterTests {
    private func write(_ text: String, to writer: MediaWriter) throws {
        try Array(text.utf8).withUnsafeBytes { try writer.write($0) }
    }

    private func unfinished(_ directory: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory + "/unfinished")
    }

    @Test func joinsPiecesIntoOneFile() async throws {
        try await withTemporaryDirectory { directory in
            let store = MediaStore(directory: directory)
            let writer = try store.begin()
            for piece in ["he", "", "llo"] { try write(piece, to: writer) }
            #expect(store.find("2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824") == nil)
            #expect(try unfinished(directory).count == 1)
            let file = try await store.keep(writer, as: .gif)
            #expect(file.sha256 == "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824")
            #expect(file.bytes == 5 && file.contentType == "image/gif" && file.width == nil)
            let media = try #require(store.find(file.sha256))
            #expect(try store.read(media) == Array("hello".utf8))
            #expect(try unfinished(directory).isEmpty)
        }
    }

    @Test func removesFilesThatAreNotKept() async throws {
        try await withTemporaryDirectory { directory in
            let store = MediaStore(directory: directory)
            do {
                let writer = try store.begin()
                try write("hello", to: writer)
            }
            #expect(try unfinished(directory).isEmpty)
            let writer = try store.begin()
            writer.discard()
            #expect(try unfinished(directory).isEmpty)
        }
    }

    @Test func keepsTheExistingFile() async throws {
        try await withTemporaryDirectory { directory in
            let store = MediaStore(directory: directory)
            let media = try store.keep(Array("hello".utf8))
            let path = store.path(of: media)
            let before = try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int
            let writer = try store.begin()
            try write("hello", to: writer)
            #expect(try store.keep(writer) == media)
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int == before)
            #expect(try unfinished(directory).isEmpty)
        }
    }

    @Test func failedFilesAreRemoved() async throws {
        try await withTemporaryDirectory { directory in
            let store = MediaStore(directory: directory) { _ throws(MediaError) in throw MediaError(reason: "full") }
            let writer = try store.begin()
            try write("hello", to: writer)
            await #expect(throws: MediaError.self) { try await store.keep(writer, as: .other) }
            #expect(try unfinished(directory).isEmpty)
        }
    }

    @Test func recreatesARemovedFolder() async throws {
        try await withTemporaryDirectory { directory in
            let store = MediaStore(directory: directory + "/media")
            _ = try store.keep([1])
            try FileManager.default.removeItem(atPath: directory + "/media")
            let media = try store.keep([2])
            #expect(try store.read(media) == [2])
        }
    }
}
