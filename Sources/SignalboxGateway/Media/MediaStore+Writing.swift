import Dispatch
import Foundation
import SignalboxEgress
import Synchronization

/// How files come into the folder.
extension MediaStore {
    /// Neither Swift's threads nor the HTTP client's may wait for disks. Several, because a disk does more when it is
    /// asked for more at once; equal files meet on the same one.
    private static let queues = (0..<16).map { DispatchQueue(label: "signalbox.media.disk.\($0)") }

    /// Begins a file; any number may be written at once.
    package func begin() throws(MediaError) -> MediaWriter {
        let path = unfinished + "/" + hexadecimal(randomBytes(16))
        do throws(MediaError) {
            return try MediaWriter(path: path)
        } catch {
            // Nearly always the folder is there. That it and its parent are on disk is seen to when the file is kept.
            for folder in [directory, unfinished] {
                guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw .lastError }
            }
            return try MediaWriter(path: path)
        }
    }

    /// Keeps a file, once however often it is asked to. Blocks until it is on disk.
    package func keep(_ bytes: [UInt8]) throws(MediaError) -> StoredMedia {
        let writer = try begin()
        // A closure passes errors on without their type.
        let result = bytes.withUnsafeBytes { bytes in
            Result { () throws(MediaError) in try writer.write(bytes) }
        }
        try result.get()
        return try keep(writer)
    }

    /// The same for a file that was written piece by piece. What could not be kept is removed.
    package func keep(_ writer: MediaWriter) throws(MediaError) -> StoredMedia {
        defer { writer.discard() }
        let name = writer.finish()
        let folders = folders(of: name)
        for folder in folders { try makeFolder(folder) }
        // Who put it there may not be as far yet as to know that it is on disk: the folder is synced in both cases.
        // One that lost its end to a broken disk is replaced.
        let isThere = find(name).map { $0.bytes == writer.bytes } ?? false
        let isYoung = isThere ? try touch(path(of: name)) : false
        if !isYoung {
            try writer.sync()
            guard rename(writer.path, path(of: name)) == 0 else { throw .lastError }
            writer.release()
        }
        try sync(folders[2])
        return StoredMedia(sha256: name, bytes: writer.bytes)
    }

    /// The same without blocking the caller. `look`: asked for more about the file there and then.
    package func keep<R: Sendable>(
        _ writer: MediaWriter, look: @escaping @Sendable (StoredMedia) throws(MediaError) -> R
    ) async throws(MediaError) -> R {
        let queue = Self.queues[Int(writer.finish().utf8.first ?? 0) % Self.queues.count]
        let result = await withCheckedContinuation { done in
            queue.async {
                done.resume(returning: Result { () throws(MediaError) in try look(try self.keep(writer)) })
            }
        }
        return try result.get()
    }

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

    package static func sync(_ folder: String) throws(MediaError) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .lastError }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .lastError }
    }
}
