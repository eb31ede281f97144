import Dispatch
package import Foundation
import Synchronization

/// How the folder gets smaller.
extension MediaStore {
    /// Not Swift's pool: its threads must not wait for disks.
    private static let removal = DispatchQueue(label: "signalbox.media.removal", qos: .utility)

    /// Removes files that nobody asked to keep since then; returns how many. Folders stay, and what is no file of ours.
    /// Done in steps of one folder of the directory; a cancelled task ends between two of them.
    package func remove(olderThan limit: Date) async throws(MediaError) -> Int {
        var removed = 0
        for folder in try await step({ () throws(MediaError) in try folders(in: directory) }) {
            if Task.isCancelled { break }
            removed += try await step { () throws(MediaError) in
                var count = 0
                for folder in try folders(in: folder) { count += try removeFiles(in: folder, olderThan: limit) }
                return count
            }
        }
        return removed
    }

    private func step<R: Sendable>(_ body: @escaping @Sendable () throws(MediaError) -> R) async throws(MediaError) -> R
    {
        let result = await withCheckedContinuation { done in
            Self.removal.async { done.resume(returning: Result { () throws(MediaError) in try body() }) }
        }
        return try result.get()
    }

    /// Those whose names are the first digits of a file's.
    private func folders(in folder: String) throws(MediaError) -> [String] {
        try names(in: folder).filter { $0.utf8.count == 2 }.map { folder + "/" + $0 }
    }

    private func removeFiles(in folder: String, olderThan limit: Date) throws(MediaError) -> Int {
        var removed = 0
        for name in try names(in: folder) where Self.isName(name) {
            if try remove(folder + "/" + name, olderThan: limit) { removed += 1 }
        }
        return removed
    }

    private func remove(_ path: String, olderThan limit: Date) throws(MediaError) -> Bool {
        let failure: Int32? = shared.ages.withLock { _ in
            var status = stat()
            guard lstat(path, &status) == 0 else { return errno }
            guard Double(status.st_mtim.tv_sec) < limit.timeIntervalSince1970 else { return nil }
            return unlink(path) == 0 ? 0 : errno
        }
        guard let failure, failure != ENOENT else { return false }
        guard failure == 0 else { throw MediaError(reason: String(cString: strerror(failure))) }
        return true
    }

    /// None where there is no such folder.
    private func names(in folder: String) throws(MediaError) -> [String] {
        guard let listing = opendir(folder) else {
            if errno == ENOENT || errno == ENOTDIR { return [] }
            throw .lastError
        }
        defer { closedir(listing) }
        var names: [String] = []
        while let entry = readdir(listing) {
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) { name in
                    name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                })
        }
        return names.filter { $0 != "." && $0 != ".." }
    }
}
