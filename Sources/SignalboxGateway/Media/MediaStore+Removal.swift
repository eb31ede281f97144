import Dispatch
package import Foundation
import Synchronization

/// How the folder gets smaller.
extension MediaStore {
    /// Not Swift's pool: its threads must not wait for disks.
    private static let removal = DispatchQueue(label: "signalbox.media.removal", qos: .utility)

    /// Removes files that nobody asked to keep since then; returns how many.
    package func remove(_ digests: [String], olderThan limit: Date) async throws(MediaError) -> Int {
        try await step { () throws(MediaError) in
            var count = 0
            for digest in digests where Self.isName(digest) {
                if try remove(path(of: digest), olderThan: limit) { count += 1 }
            }
            return count
        }
    }

    /// Removes files that nobody knows and that nobody asked to keep since then; returns how many. `known`: which of some
    /// digests are known. Folders stay, and what is no file of ours. Done in steps of one folder of the directory; a
    /// cancelled task ends between two of them.
    package func removeUnknown(
        olderThan limit: Date, known: ([String]) async throws -> Set<String>
    ) async throws -> Int {
        var removed = 0
        for folder in try await step({ () throws(MediaError) in try folders(in: directory) }) {
            if Task.isCancelled { break }
            let old = try await step { () throws(MediaError) in try oldDigests(in: folder, olderThan: limit) }
            guard !old.isEmpty else { continue }
            let known = try await known(old)
            removed += try await remove(old.filter { !known.contains($0) }, olderThan: limit)
        }
        return removed
    }

    /// Of files in the folders of a folder.
    private func oldDigests(in folder: String, olderThan limit: Date) throws(MediaError) -> [String] {
        var digests: [String] = []
        for folder in try folders(in: folder) {
            for name in try names(in: folder) where Self.isName(name) {
                if Self.isOld(folder + "/" + name, olderThan: limit) { digests.append(name) }
            }
        }
        return digests
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

    private static func isOld(_ path: String, olderThan limit: Date) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && Double(status.st_mtim.tv_sec) < limit.timeIntervalSince1970
    }

    private func remove(_ path: String, olderThan limit: Date) throws(MediaError) -> Bool {
        let failure: Int32? = shared.ages.withLock { _ in
            guard Self.isOld(path, olderThan: limit) else { return nil }
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
