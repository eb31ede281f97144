import Dispatch
package import Foundation
import SignalboxStore

extension MediaStore {
    private static let removal = DispatchQueue(label: "signalbox.media.removal", qos: .utility)

    /// Removes files with these digests that were not stored again since `limit`. Returns how many it removed. Skips
    /// texts that are not digests. Throws the first error; files that were removed before stay removed.
    package func remove(_ digests: [String], olderThan limit: Date) async throws(MediaError) -> Int {
        try await Self.removal.run { () throws(MediaError) in
            var count = 0
            for digest in digests where Self.isDigest(digest) {
                if try remove(path(of: digest), olderThan: limit) { count += 1 }
            }
            return count
        }
    }

    /// Removes unknown files that were not stored again since `limit`, and returns how many. Leaves folders and other
    /// files alone. Also removes the unfinished files of a shared directory that are older than a day, without counting
    /// them: when the process that began them started again, they were recent. Works folder by folder; a cancelled task
    /// ends between two folders. `known`: returns the known ones among some digests. `limit`: in the past, so that a
    /// file that is stored meanwhile is younger and stays. Throws the errors of `known` and of the disk.
    package func removeUnknown(
        olderThan limit: Date, known: ([String]) async throws -> Set<String>
    ) async throws -> Int {
        if isShared { await Self.removal.run { [self] in removeUnfinished() } }
        var removed = 0
        for folder in try await Self.removal.run({ () throws(MediaError) in try folders(in: directory) }) {
            if Task.isCancelled { break }
            let old = try await Self.removal.run { () throws(MediaError) in
                try oldDigests(in: folder, olderThan: limit)
            }
            guard !old.isEmpty else { continue }
            let known = try await known(old)
            removed += try await remove(old.filter { !known.contains($0) }, olderThan: limit)
        }
        return removed
    }

    /// The digests of old files in the folders below `folder`, whose digests begin with the same byte.
    private func oldDigests(in folder: String, olderThan limit: Date) throws(MediaError) -> [String] {
        var digests: [String] = []
        for folder in try folders(in: folder) {
            digests += try names(in: folder).filter {
                Self.isDigest($0) && Self.isOld(folder + "/" + $0, olderThan: limit)
            }
        }
        return digests
    }

    /// The folders whose names have two characters: those that the store makes have two digits of a digest.
    private func folders(in folder: String) throws(MediaError) -> [String] {
        try names(in: folder).filter { $0.utf8.count == 2 && $0 != ".." }.map { folder + "/" + $0 }
    }

    /// False for a file that does not exist.
    static func isOld(_ path: String, olderThan limit: Date) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && Double(status.modified.seconds) < limit.timeIntervalSince1970
    }

    /// Under the lock of ``Shared/ages``, so a file that is renewed at the same time survives.
    private func remove(_ path: String, olderThan limit: Date) throws(MediaError) -> Bool {
        let failure: Int32 = withAges {
            guard Self.isOld(path, olderThan: limit) else { return ENOENT }
            return unlink(path) == 0 ? 0 : errno
        }
        guard failure == 0 || failure == ENOENT else { throw MediaError(code: failure) }
        return failure == 0
    }

    /// The names in a folder; empty when there is no such folder.
    private func names(in folder: String) throws(MediaError) -> [String] {
        guard let listing = opendir(folder) else {
            if errno == ENOENT || errno == ENOTDIR { return [] }
            throw .lastError
        }
        defer { closedir(listing) }
        var names: [String] = []
        while let entry = readdir(listing) {
            withUnsafeBytes(of: &entry.pointee.d_name) { name in
                names.append(String(decoding: name.prefix { $0 != 0 }, as: UTF8.self))
            }
        }
        return names
    }
}
