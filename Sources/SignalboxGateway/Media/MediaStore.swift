import Dispatch
import Foundation
import SignalboxEgress
package import SignalboxNotification
import SignalboxStore
import Synchronization

/// A file in a ``MediaStore``. It names the content, not a download: several URLs may lead to one file.
package struct StoredMedia: Sendable, Equatable {
    /// 64 lower-case hexadecimal digits.
    package let sha256: String
    /// Size of the file.
    package let bytes: Int
}

/// A file cannot be stored or read, for instance because the disk is full. Another attempt may succeed once the
/// operator has freed space or corrected the permissions.
package struct MediaError: Error, CustomStringConvertible {
    /// As the system words it.
    package let reason: String

    /// For reasons that the system does not name.
    package init(reason: String) { self.reason = reason }

    /// The text of a code of `errno`.
    init(code: Int32) { reason = String(cString: strerror(code)) }

    /// Read it right after the failed call.
    static var lastError: MediaError { MediaError(code: errno) }

    package var description: String { "The media file cannot be stored, read or removed: \(reason)." }
}

/// Stores files that events link to under their digest: `media/ab/cd/<64 hexadecimal digits of SHA-256>`.
///
/// A file appears whole or not at all, is synced before `keep` returns, and never changes. Its modification time is
/// the last time that `keep` was called for it. Lookups accept only such digests, so no path comes from outside. A
/// value whose copies share their state. Safe to use from any number of threads at once.
package struct MediaStore: Sendable {
    let directory: String
    /// Whether other processes write to the directory.
    let isShared: Bool
    let sync: @Sendable (_ folder: String) throws(MediaError) -> Void
    let create: @Sendable (_ path: String) throws(MediaError) -> MediaWriter
    let shared = Shared()

    /// A class because all copies of the store share it.
    final class Shared: Sendable {
        /// Begins the names of this process's unfinished files.
        let prefix = hexadecimal(randomBytes(8))
        /// Folders that this process knows to be synced.
        let folders = Mutex<Set<String>>([])
        /// Serialises removing an old file and renewing its modification time, in this process.
        let ages = Mutex(())
    }

    /// Opens the store and removes files that an earlier process left unfinished. Only one process may write to the
    /// directory, which the first file creates. `isShared`: several may, and unfinished files stay for a day.
    /// `isRemote`: the directory may be on a network that does not answer. `sync`: syncs the entries of a folder.
    /// `create`: creates an unfinished file. Never throws: problems of the directory appear with the first file.
    package init(
        directory: String, isShared: Bool = false, isRemote: Bool = false,
        sync: @escaping @Sendable (_ folder: String) throws(MediaError) -> Void = MediaStore.sync,
        create: @escaping @Sendable (_ path: String) throws(MediaError) -> MediaWriter = MediaWriter.init(path:)
    ) {
        (self.directory, self.isShared) = (directory, isShared)
        (self.sync, self.create) = (sync, create)
        // A directory that does not answer must not stop the start.
        if isShared || isRemote { Self.queues[0].async { [self] in removeUnfinished() } } else { removeUnfinished() }
    }

    /// Spares this process's files. In a shared directory, younger files may be those of other processes. Blocks.
    func removeUnfinished() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: unfinished)) ?? []
        for name in names where !name.hasPrefix(shared.prefix) {
            let path = unfinished + "/" + name
            if !isShared || Self.isOld(path, olderThan: Date(timeIntervalSinceNow: -86_400)) { unlink(path) }
        }
    }

    /// Opens the store to read and remove files while another process writes to it. The caller must not store files
    /// with it.
    package init(besideOwnerOf directory: String) {
        (self.directory, isShared) = (directory, true)
        (sync, create) = (Self.sync, MediaWriter.init(path:))
    }

    /// Runs `body` while no file of the directory is removed or renewed elsewhere. In a shared directory, the lock of a
    /// file makes all processes wait; without it, as on a read-only file system, `body` fails anyway.
    func withAges<R>(_ body: () -> R) -> R {
        shared.ages.withLock { _ in
            let lock = isShared ? open(directory + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600) : -1
            if lock >= 0 { while flock(lock, LOCK_EX) != 0, errno == EINTR {} }
            // Closing ends the lock.
            defer { if lock >= 0 { close(lock) } }
            return body()
        }
    }

    /// The file with this digest; nil when there is none. Looks at the disk; also nil for a text that is not a digest,
    /// so it is safe for paths of requests.
    package func find(_ digest: String) -> StoredMedia? {
        guard Self.isDigest(digest) else { return nil }
        var status = stat()
        guard stat(path(of: digest), &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return StoredMedia(sha256: digest, bytes: Int(status.st_size))
    }

    /// The path of a file, to read it piece by piece. The HTTP server streams the file from there.
    package func path(of media: StoredMedia) -> String { path(of: media.sha256) }

    /// The kind of a file; reads its first bytes. The kind is not stored, because it follows from the content. Throws
    /// if the file was removed meanwhile.
    package func kind(of media: StoredMedia) throws(MediaError) -> MediaKind {
        MediaKind(beginning: try read(media, upTo: MediaKind.telling))
    }

    /// A file's bytes, or its first `limit` bytes. Throws if the file was removed or has fewer bytes than its
    /// description. Blocks during the read.
    package func read(_ media: StoredMedia, upTo limit: Int = .max) throws(MediaError) -> [UInt8] {
        let count = min(limit, media.bytes)
        let bytes = try withReader(of: media) { (read) throws(MediaError) in try read(0, count) }
        guard bytes.count == count else { throw MediaError(reason: "the file is too short") }
        return bytes
    }

    /// Opens a file. `read` returns up to `count` bytes from an offset, fewer at the end of the file. Closes the file
    /// when `body` ends. Blocks during each read.
    func withReader<R>(
        of media: StoredMedia,
        _ body: (_ read: (_ offset: Int, _ count: Int) throws(MediaError) -> [UInt8]) throws(MediaError) -> R
    ) throws(MediaError) -> R {
        let reader = try MediaReader(media, in: self)
        return try body { (offset, count) throws(MediaError) in try reader.bytes(at: offset, upTo: count) }
    }

    /// Runs a blocking call on one of the dispatch queues for files. A directory on a network may not answer for
    /// minutes, and Swift's cooperative pool has only one thread for each core.
    static func onDisk<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
        await queues[.random(in: queues.indices)].run(body)
    }

    // MARK: Paths

    /// The folder of files that are being written; no folder of digests has a name of this length.
    var unfinished: String { directory + "/unfinished" }

    /// Upper-case digits are not accepted, so a file has one name only.
    static func isDigest(_ text: String) -> Bool {
        text.utf8.count == 64 && text.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
    }

    /// The directory, and the two folders in it that lead to a file. In the order in which they are created.
    func folders(of digest: String) -> [String] {
        let first = directory + "/" + digest.prefix(2)
        return [directory, first, first + "/" + digest.dropFirst(2).prefix(2)]
    }

    /// The path that a file with this digest has, or would have.
    func path(of digest: String) -> String { folders(of: digest)[2] + "/" + digest }
}
