import Foundation
import SignalboxEgress

/// The files of a data directory that events point to, each under the SHA-256 of what it holds:
/// `media/ab/cd/<64 hexadecimal digits>`.
///
/// A file appears whole or not at all, is on disk when ``keep(_:)`` returns, and never changes. What somebody asks for is
/// looked up only when it has the form of such a name, so no path comes from outside.
package struct MediaStore: Sendable {
    private let directory: String

    /// `directory` is made when the first file is kept. One process at a time may keep files in it: what an earlier one
    /// left half written is removed here.
    package init(directory: String) {
        self.directory = directory
        for name in (try? FileManager.default.contentsOfDirectory(atPath: unfinished)) ?? [] {
            unlink(unfinished + "/" + name)
        }
    }

    /// Keeps a file, once however often it is asked to. Blocks until it is on disk.
    package func keep(_ bytes: [UInt8]) throws(MediaError) -> StoredMedia {
        let name = hexadecimal(sha256(bytes))
        let folders = folders(of: name)
        let stored = StoredMedia(sha256: name, bytes: bytes.count)
        guard access(path(of: name), F_OK) != 0 else {
            // Who put it there may not be as far yet as to know that it is on disk.
            try Self.sync(folders[2])
            return stored
        }
        try Self.makeFolder(directory, in: nil)
        try Self.makeFolder(unfinished, in: nil)
        for (parent, folder) in zip(folders, folders.dropFirst()) { try Self.makeFolder(folder, in: parent) }
        let temporary = unfinished + "/" + hexadecimal(randomBytes(16))
        do throws(MediaError) {
            try Self.write(bytes, to: temporary)
            guard rename(temporary, path(of: name)) == 0 else { throw .lastError }
        } catch {
            unlink(temporary)
            throw error
        }
        try Self.sync(folders[2])
        return stored
    }

    /// The file with this name; nil when there is none.
    package func find(_ name: String) -> StoredMedia? {
        guard Self.isName(name) else { return nil }
        var status = stat()
        guard stat(path(of: name), &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return StoredMedia(sha256: name, bytes: Int(status.st_size))
    }

    /// Where a file's bytes are, for whoever reads them piece by piece.
    package func path(of media: StoredMedia) -> String { path(of: media.sha256) }

    /// What a file is; reads its first bytes.
    package func kind(of media: StoredMedia) throws(MediaError) -> MediaKind {
        MediaKind(beginning: try read(media, upTo: MediaKind.telling))
    }

    /// The bytes of a file, or its first ones.
    package func read(_ media: StoredMedia, upTo limit: Int = .max) throws(MediaError) -> [UInt8] {
        let file = open(path(of: media), O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw .lastError }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: min(limit, media.bytes))
        var length = 0
        while length < bytes.count {
            let count = bytes.withUnsafeMutableBytes { buffer in
                Foundation.read(file, buffer.baseAddress.map { $0 + length }, buffer.count - length)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw count == 0 ? MediaError(reason: "the file is too short") : .lastError }
            length += count
        }
        return bytes
    }

    // MARK: Places

    /// Where files are written before they get their names; no folder of digests has a name of this length.
    private var unfinished: String { directory + "/unfinished" }

    private static func isName(_ text: String) -> Bool {
        text.utf8.count == 64
            && text.utf8.allSatisfy {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
            }
    }

    /// The directory, and the two folders in it that lead to a file.
    private func folders(of name: String) -> [String] {
        let first = directory + "/" + name.prefix(2)
        return [directory, first, first + "/" + name.dropFirst(2).prefix(2)]
    }

    private func path(of name: String) -> String { folders(of: name)[2] + "/" + name }
}

// MARK: On disk

extension MediaStore {
    /// `parent` is synced when the folder is new, so that the folder is there after a power cut.
    private static func makeFolder(_ path: String, in parent: String?) throws(MediaError) {
        if mkdir(path, 0o700) == 0 {
            if let parent { try sync(parent) }
        } else if errno != EEXIST {
            throw .lastError
        }
    }

    private static func write(_ bytes: [UInt8], to path: String) throws(MediaError) {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .lastError }
        defer { close(file) }
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                Foundation.write(file, buffer.baseAddress.map { $0 + written }, buffer.count - written)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .lastError }
            written += count
        }
        guard fsync(file) == 0 else { throw .lastError }
    }

    private static func sync(_ folder: String) throws(MediaError) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .lastError }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .lastError }
    }
}

/// A file cannot be kept or read; the disk is full, perhaps, or somebody else's.
package struct MediaError: Error, CustomStringConvertible {
    package let reason: String

    static var lastError: MediaError { MediaError(reason: String(cString: strerror(errno))) }

    package var description: String { "The file cannot be kept or read: \(reason)." }
}
