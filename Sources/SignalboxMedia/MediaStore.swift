import Foundation
import SignalboxEgress
package import SignalboxModel
import Synchronization

/// The files of a data directory that events point to, each under the SHA-256 of what it holds:
/// `media/ab/cd/<64 hexadecimal digits>`.
///
/// A file appears whole or not at all, is on disk when ``keep(_:)`` returns, and never changes; its modification time is
/// when it was last asked to be kept. What somebody asks for is
/// looked up only when it has the form of such a name, so no path comes from outside.
package struct MediaStore: Sendable {
    let directory: String
    private let sync: @Sendable (_ folder: String) throws(MediaError) -> Void
    let shared = Shared()

    /// A class because all copies of the store share it.
    final class Shared: Sendable {
        /// Folders that are on disk, for this process did that or saw to it.
        fileprivate let folders = Mutex<Set<String>>([])
        /// Held while a file is found old and removed, or found and made young.
        let ages = Mutex(())
    }

    /// `sync`: brings the entries of a folder to disk. `directory` is made when the first file is kept. One process at a time may keep files in it: what an earlier one
    /// left half written is removed here.
    package init(
        directory: String,
        sync: @escaping @Sendable (_ folder: String) throws(MediaError) -> Void = MediaStore.sync
    ) {
        self.directory = directory
        self.sync = sync
        for name in (try? FileManager.default.contentsOfDirectory(atPath: unfinished)) ?? [] {
            unlink(unfinished + "/" + name)
        }
    }

    /// Keeps a file, once however often it is asked to. Blocks until it is on disk.
    package func keep(_ bytes: [UInt8]) throws(MediaError) -> StoredMedia {
        let name = hexadecimal(sha256(bytes))
        let folders = folders(of: name)
        let stored = StoredMedia(sha256: name, bytes: bytes.count)
        for folder in folders { try makeFolder(folder) }
        if try touch(path(of: name)) {
            // Who put it there may not be as far yet as to know that it is on disk.
            try sync(folders[2])
            return stored
        }
        guard mkdir(unfinished, 0o700) == 0 || errno == EEXIST else { throw .lastError }
        let temporary = unfinished + "/" + hexadecimal(randomBytes(16))
        do throws(MediaError) {
            try Self.write(bytes, to: temporary)
            guard rename(temporary, path(of: name)) == 0 else { throw .lastError }
        } catch {
            unlink(temporary)
            throw error
        }
        try sync(folders[2])
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
    var unfinished: String { directory + "/unfinished" }

    static func isName(_ text: String) -> Bool {
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
    /// Makes sure that a folder is there, also after a power cut: its parent is synced when it is new, and else once,
    /// because who made it may have ended before.
    private func makeFolder(_ path: String) throws(MediaError) {
        if mkdir(path, 0o700) != 0 {
            guard errno == EEXIST else { throw .lastError }
            if shared.folders.withLock({ $0.contains(path) }) { return }
        }
        let slash = path.lastIndex(of: "/")
        try sync(slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? ".")
        shared.folders.withLock { _ = $0.insert(path) }
    }

    /// Makes a file young, on disk too; false when there is none.
    private func touch(_ path: String) throws(MediaError) -> Bool {
        let (file, failure) = shared.ages.withLock { _ in
            let file = open(path, O_RDONLY | O_CLOEXEC)
            let isYoung = file >= 0 && futimens(file, nil) == 0
            return (file, isYoung ? 0 : errno)
        }
        if file < 0, failure == ENOENT { return false }
        defer { if file >= 0 { close(file) } }
        guard failure == 0 else { throw MediaError(reason: String(cString: strerror(failure))) }
        guard fsync(file) == 0 else { throw .lastError }
        return true
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

    package static func sync(_ folder: String) throws(MediaError) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .lastError }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .lastError }
    }
}

/// A file cannot be kept or read; the disk is full, perhaps, or somebody else's.
package struct MediaError: Error, CustomStringConvertible {
    package let reason: String

    package init(reason: String) { self.reason = reason }

    static var lastError: MediaError { MediaError(reason: String(cString: strerror(errno))) }

    package var description: String { "The file cannot be kept or read: \(reason)." }
}
