import Foundation
package import SignalboxNotification
import Synchronization

/// A file in a ``MediaStore``.
package struct StoredMedia: Sendable, Equatable {
    /// 64 lower-case hexadecimal digits.
    package let sha256: String
    package let bytes: Int
}

/// A file cannot be stored or read, for instance because the disk is full.
package struct MediaError: Error, CustomStringConvertible {
    package let reason: String

    package init(reason: String) { self.reason = reason }

    static var lastError: MediaError { MediaError(code: errno) }

    init(code: Int32) { reason = String(cString: strerror(code)) }

    package var description: String { "The file cannot be kept or read: \(reason)." }
}

/// Stores files that events link to under their digest: `media/ab/cd/<64 hexadecimal digits of SHA-256>`.
///
/// A file appears whole or not at all, is synced before `keep` returns, and never changes. Its modification time is the
/// last time that `keep` was called for it. Lookups accept only such digests, so no path comes from outside.
package struct MediaStore: Sendable {
    let directory: String
    let sync: @Sendable (_ folder: String) throws(MediaError) -> Void
    let shared = Shared()

    /// A class because all copies of the store share it.
    final class Shared: Sendable {
        /// Folders that this process knows to be synced.
        let folders = Mutex<Set<String>>([])
        /// Serialises removing an old file and renewing its modification time.
        let ages = Mutex(())
    }

    /// Opens the store and removes files that an earlier process left unfinished. Only one process may write to the
    /// directory, which the first file creates. `sync`: syncs the entries of a folder.
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

    /// Opens the store to read and remove files while another process writes to it.
    package init(besideOwnerOf directory: String) {
        self.directory = directory
        sync = Self.sync
    }

    /// The file with this digest; nil when there is none.
    package func find(_ digest: String) -> StoredMedia? {
        guard Self.isDigest(digest) else { return nil }
        var status = stat()
        guard stat(path(of: digest), &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return StoredMedia(sha256: digest, bytes: Int(status.st_size))
    }

    /// The path of a file, to read it piece by piece.
    package func path(of media: StoredMedia) -> String { path(of: media.sha256) }

    /// The kind of a file; reads its first bytes.
    package func kind(of media: StoredMedia) throws(MediaError) -> MediaKind {
        MediaKind(beginning: try read(media, upTo: MediaKind.telling))
    }

    /// A file's bytes, or its first `limit` bytes.
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

    // MARK: Paths

    /// The folder of files that are being written; no folder of digests has a name of this length.
    var unfinished: String { directory + "/unfinished" }

    static func isDigest(_ text: String) -> Bool {
        text.utf8.count == 64 && text.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
    }

    /// The directory, and the two folders in it that lead to a file.
    func folders(of digest: String) -> [String] {
        let first = directory + "/" + digest.prefix(2)
        return [directory, first, first + "/" + digest.dropFirst(2).prefix(2)]
    }

    func path(of digest: String) -> String { folders(of: digest)[2] + "/" + digest }
}
