import Dispatch
import Foundation
import SignalboxEgress
package import SignalboxNotification
import SignalboxStore
import Synchronization

extension MediaStore {
    /// Several queues, because disks handle concurrent syncs faster; equal files use the same queue.
    static let queues = (0..<16).map { DispatchQueue(label: "signalbox.media.disk.\($0)") }

    /// Begins a file. Any number may be written at once. Creates the directory when it is missing. Throws if the disk
    /// is full or not writable.
    package func begin() throws(MediaError) -> MediaWriter {
        let path = unfinished + "/" + shared.prefix + hexadecimal(randomBytes(16))
        do throws(MediaError) {
            return try create(path)
        } catch {
            // Usually the folders exist. `keep` syncs their entries.
            for folder in [directory, unfinished] {
                guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw .lastError }
            }
            return try create(path)
        }
    }

    /// Stores a file, once for equal bytes. Blocks until it is on disk. For small files, such as calendars. The
    /// caller must not be on a thread of Swift's pool or of the HTTP client.
    package func keep(_ bytes: [UInt8]) throws(MediaError) -> StoredMedia {
        let writer = try begin()
        // The closure cannot rethrow a typed error.
        let result = bytes.withUnsafeBytes { bytes in
            Result { () throws(MediaError) in try writer.write(bytes) }
        }
        try result.get()
        return try keep(writer)
    }

    /// Stores a written file, once for equal bytes, or removes it after an error. Blocks until it is on disk. Equal
    /// bytes renew the modification time of the stored file, so that a cleanup under way keeps it.
    package func keep(_ writer: MediaWriter) throws(MediaError) -> StoredMedia {
        defer { writer.discard() }
        let digest = writer.finish()
        let folders = folders(of: digest)
        for folder in folders { try makeFolder(folder) }
        // A file that a broken disk shortened is replaced.
        let exists = find(digest).map { $0.bytes == writer.bytes } ?? false
        let isRenewed = exists ? try renew(path(of: digest)) : false
        if !isRenewed {
            try writer.sync()
            guard rename(writer.path, path(of: digest)) == 0 else { throw .lastError }
            writer.release()
        }
        // Even for an existing file, because the task that stored it may not have synced the folder yet.
        try sync(folders[2])
        return StoredMedia(sha256: digest, bytes: writer.bytes)
    }

    /// Stores a written file and describes it, without blocking the caller. Reads the size of an image from its header;
    /// other kinds have none. The blocking work runs on a queue.
    package func keep(_ writer: MediaWriter, as kind: MediaKind) async throws(MediaError) -> MediaFile {
        let queue = Self.queues[(writer.finish().first?.hexDigitValue ?? 0) % Self.queues.count]
        return try await queue.run { () throws(MediaError) in
            let media = try keep(writer)
            let size = try withReader(of: media) { (read) throws(MediaError) in try PictureSize(of: kind, read: read) }
            return MediaFile(
                sha256: media.sha256, bytes: media.bytes, contentType: kind.contentType, width: size?.width,
                height: size?.height)
        }
    }

    /// Makes sure that a folder exists, even after a power cut. Syncs the parent of a new folder, and once that of an
    /// existing one, because the process that made it may have crashed before its sync. Two calls at the same time may
    /// both sync the parent.
    private func makeFolder(_ path: String) throws(MediaError) {
        if mkdir(path, 0o700) != 0 {
            guard errno == EEXIST else { throw .lastError }
            if shared.folders.withLock({ $0.contains(path) }) { return }
        }
        let slash = path.lastIndex(of: "/")
        try sync(slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? ".")
        shared.folders.withLock { _ = $0.insert(path) }
    }

    /// Renews a file's modification time and syncs it; false when there is no such file. Holds the lock of
    /// ``Shared/ages`` until the time is set, so that a removal sees it.
    private func renew(_ path: String) throws(MediaError) -> Bool {
        let (file, failure) = withAges {
            let file = open(path, O_RDONLY | O_CLOEXEC)
            return (file, file >= 0 && futimens(file, nil) == 0 ? 0 : errno)
        }
        if file < 0, failure == ENOENT { return false }
        defer { if file >= 0 { close(file) } }
        guard failure == 0 else { throw MediaError(code: failure) }
        guard fsync(file) == 0 else { throw .lastError }
        return true
    }

    /// Syncs the entries of a folder. Blocks until the entries are on disk.
    package static func sync(_ folder: String) throws(MediaError) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .lastError }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .lastError }
    }
}

/// A file of a ``MediaStore`` that is being written. It is removed unless `keep` stores it.
///
/// A class because it owns a descriptor and a file. It counts the bytes and computes the digest while it writes.
package final class MediaWriter: @unchecked Sendable {
    // Sendable: one task or queue uses it at a time.
    let path: String
    private var file: Int32
    private var digest = RunningDigest()
    private var name: String?
    private(set) var bytes = 0

    /// Creates the file, which must not exist. Throws if the folder is missing.
    package init(path: String) throws(MediaError) {
        self.path = path
        file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .lastError }
    }

    deinit { discard() }

    /// Appends to the file, without a sync. Throws if the disk is full. A part of the piece may have been written
    /// then, so the caller discards the file.
    package func write(_ piece: UnsafeRawBufferPointer) throws(MediaError) {
        precondition(file >= 0 && name == nil, "The file is complete.")
        var written = 0
        while written < piece.count {
            let count = Foundation.write(file, piece.baseAddress.map { $0 + written }, piece.count - written)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .lastError }
            written += count
        }
        digest.update(piece)
        bytes += piece.count
    }

    /// The SHA-256 of the whole file. Ends the writing. Further calls return the same name. No piece may be written
    /// after it.
    func finish() -> String {
        if let name { return name }
        let name = hexadecimal(digest.finish())
        self.name = name
        return name
    }

    /// Blocks until the file is on disk.
    func sync() throws(MediaError) {
        guard fsync(file) == 0 else { throw .lastError }
    }

    /// Closes the file without removing it. The path may have another name by then.
    func release() {
        if file >= 0 { close(file) }
        file = -1
    }

    /// Removes the file unless it has been released. Called by the deinitialiser too; a second call has no effect.
    package func discard() {
        guard file >= 0 else { return }
        release()
        unlink(path)
    }
}
