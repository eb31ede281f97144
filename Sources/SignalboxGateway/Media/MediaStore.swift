import Foundation
package import SignalboxNotification
import Synchronization

/// The files of a data directory that events point to, each under the SHA-256 of what it holds:
/// `media/ab/cd/<64 hexadecimal digits>`.
///
/// A file appears whole or not at all, is on disk when it is kept, and never changes; its modification time is
/// when it was last asked to be kept. What somebody asks for is
/// looked up only when it has the form of such a name, so no path comes from outside.
package struct MediaStore: Sendable {
    let directory: String
    let sync: @Sendable (_ folder: String) throws(MediaError) -> Void
    let shared = Shared()

    /// A class because all copies of the store share it.
    final class Shared: Sendable {
        /// Folders that are on disk, for this process did that or saw to it.
        let folders = Mutex<Set<String>>([])
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

    /// For looking at files while their owner keeps some; whoever opens it so keeps none.
    package init(besideOwnerOf directory: String) {
        self.directory = directory
        sync = Self.sync
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
    func folders(of name: String) -> [String] {
        let first = directory + "/" + name.prefix(2)
        return [directory, first, first + "/" + name.dropFirst(2).prefix(2)]
    }

    func path(of name: String) -> String { folders(of: name)[2] + "/" + name }
}

/// A file cannot be kept or read; the disk is full, perhaps, or somebody else's.
package struct MediaError: Error, CustomStringConvertible {
    package let reason: String

    package init(reason: String) { self.reason = reason }

    static var lastError: MediaError { MediaError(reason: String(cString: strerror(errno))) }

    package var description: String { "The file cannot be kept or read: \(reason)." }
}
