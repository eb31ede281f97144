import Foundation
import SignalboxNotification

/// The directory of the queue and the gateway's own keys. One process at a time owns it. A class because it owns
/// file descriptors: its locks last as long as the object.
package final class DataDirectory: Sendable {
    /// The path that the initialiser received.
    package let path: String
    private let lock: Int32
    /// The directory itself, locked too: the file of the lock may be removed while its owner runs. Below 0 for a
    /// directory that cannot be opened.
    private let folder: Int32
    private let sync: @Sendable (_ folder: String) throws(StoreError) -> Void

    /// Makes the directory if need be and takes its locks. The kernel drops the locks when the process ends, however it
    /// ends. A new directory is on disk when this returns. `patience`: how long to wait for each lock, blocking
    /// the thread. `sync`: syncs the entries of a directory.
    package init(
        path: String, patience: Duration = .zero,
        sync: @escaping @Sendable (_ folder: String) throws(StoreError) -> Void = DataDirectory.sync
    ) throws(StoreError) {
        (self.path, self.sync) = (path, sync)
        let parents = Self.parentsOfMissing(path)
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            let cause = (error as? CocoaError)?.underlying as? POSIXError
            let reason = cause.map { ": " + String(cString: strerror($0.code.rawValue)) } ?? ""
            throw .directory(path: path, reason: "it cannot be created" + reason)
        }
        lock = open(path + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        let error = Self.lastError
        folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard lock >= 0 else { throw .directory(path: path, reason: error) }
        // From here on `deinit` closes it, even when this throws.
        for parent in parents { try sync(parent) }
        let fault = Self.lockError(of: lock, within: patience)
        if let fault, fault != EWOULDBLOCK {
            throw .directory(path: path, reason: "it cannot be locked: " + String(cString: strerror(fault)))
        }
        // NFS does not lock directories: there, the file alone decides.
        if fault != nil || Self.lockError(of: folder, within: patience) == EWOULDBLOCK {
            let owner = try? String(contentsOfFile: path + "/lock", encoding: .utf8)
                .trimmingCharacters(in: .whitespacesAndNewlines)
            throw .inUse(path: path, by: owner?.isEmpty == false ? owner : nil)
        }
        let process = "\(getpid())\n"
        let isWritten = ftruncate(lock, 0) == 0 && pwrite(lock, process, process.utf8.count, 0) > 0
        // The number is for messages only. On a full disk the queue decides whether the start fails, and how.
        guard isWritten || errno == ENOSPC || errno == EDQUOT else {
            throw .directory(path: path, reason: Self.lastError)
        }
    }

    /// Locks a descriptor. Returns the error of the system after a failure: `EWOULDBLOCK` while another process has the
    /// lock.
    private static func lockError(of descriptor: Int32, within patience: Duration) -> Int32? {
        let end = ContinuousClock.now + patience
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let error = errno
            guard error == EWOULDBLOCK, ContinuousClock.now < end else { return error }
            usleep(20_000)
        }
        return nil
    }

    deinit {
        for descriptor in [folder, lock] where descriptor >= 0 {
            // Closing is not enough: a child process that is starting has a copy of the descriptor until it calls exec.
            _ = flock(descriptor, LOCK_UN)
            close(descriptor)
        }
    }

    /// The bytes of a key file; makes a missing one with the bytes of `make`. The file is readable by its owner only,
    /// and on disk before it is used, so that equal inputs always have equal hashes. Throws when the disk cannot
    /// confirm that.
    package func key(_ name: String, orMake make: () -> [UInt8]) throws(StoreError) -> [UInt8] {
        let file = path + "/" + name
        let bytes = make()
        if let found = FileManager.default.contents(atPath: file) {
            guard found.count == bytes.count else {
                throw .directory(
                    path: path, reason: "its \(name) is not whole: restore it, or remove it to get a new key")
            }
            // The process that made it may have crashed before its sync.
            try sync(path)
            return Array(found)
        }
        // A key that is there but cannot be read must not be replaced: every token would get another name.
        guard access(file, F_OK) != 0, errno == ENOENT else {
            throw .directory(path: path, reason: "its \(name) cannot be read: \(Self.lastError)")
        }
        // Under another name first: a crash leaves no half key behind.
        let descriptor = open(file + ".new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .directory(path: path, reason: Self.lastError) }
        defer { close(descriptor) }
        guard write(descriptor, bytes, bytes.count) == bytes.count, fsync(descriptor) == 0,
            rename(file + ".new", file) == 0
        else { throw .directory(path: path, reason: Self.lastError) }
        // Without this, a power cut may remove the name, and the next start would make another key.
        try sync(path)
        return bytes
    }

    /// Syncs the entries of a directory. Blocks until they are on disk. File systems that sync no directories report
    /// `EINVAL` (fsync(2)), which counts as success.
    package static func sync(_ folder: String) throws(StoreError) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .directory(path: folder, reason: lastError) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 || errno == EINVAL else { throw .directory(path: folder, reason: lastError) }
    }

    /// The directories that get a new entry when the missing directories of a path are made, the innermost first.
    private static func parentsOfMissing(_ path: String) -> [String] {
        var parents: [String] = []
        var missing = path
        while !missing.isEmpty, !FileManager.default.fileExists(atPath: missing) {
            missing = missing.parentPath
            parents.append(missing.isEmpty ? "." : missing)
        }
        return parents
    }

    private static var lastError: String { String(cString: strerror(errno)) }
}
