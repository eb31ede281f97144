package import SignalboxConfig
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
package import SignalboxStore

/// The work of `signalbox media` on the queue and its media directory. Works while a gateway runs.
package struct MediaUpkeep: Sendable {
    private let queue: any Store
    /// Without the lock of the directory, because a gateway may hold it.
    private let store: MediaStore
    /// The data directory.
    private let path: String

    /// `queue`: of the gateway. `files`: the directory of the files; nil for `media` in the data directory. Locks
    /// neither.
    package init(_ queue: any Store, dataDirectory path: String, files: String?) {
        (self.queue, self.path) = (queue, path)
        store = MediaStore(besideOwnerOf: files ?? path + "/media")
    }

    /// Prints the first page of files, or of pending and failed downloads. `limit`: at least 1. `print` receives a line
    /// without its line end.
    package func list(downloads: Bool, limit: Int, asJSON: Bool, print: (String) -> Void) async throws {
        if downloads {
            if !asJSON { print(MediaURLRecord.heading) }
            let records = try await queue.mediaURLs([.wanted, .resting, .failed], before: nil, limit: limit)
            for record in records { print(asJSON ? record.json : record.row) }
        } else {
            if !asJSON { print(MediaFileRecord.heading) }
            let records = try await queue.mediaFiles(after: nil, limit: limit)
            for record in records { print(asJSON ? record.json : record.row) }
        }
    }

    /// Compares every file with its digest and prints each bad one; true if all are intact. `forgets`: removes bad
    /// files, except one that was downloaded again between the check and its removal. `asJSON`: prints one object at
    /// the end.
    package func verify(forgets: Bool, asJSON: Bool, print: (String) -> Void) async throws -> Bool {
        var (missing, damaged): ([String], [String]) = ([], [])
        let (whole, bad) = try await store.verify(queue) { file, fault in
            if fault == .missing { missing.append(file.sha256) } else { damaged.append(file.sha256) }
            if !asJSON { print("\(file.sha256)  \(fault)") }
        }
        if !asJSON { print("\(Counted.words(whole, "file")) intact, \(bad.count) damaged or missing.") }
        if forgets, !bad.isEmpty {
            try await store.forget(bad, queue)
            try await queue.record(.command("media.forget"), count: bad.count)
            if !asJSON { print("Removed; the next event that names one downloads it again.") }
        }
        if asJSON { print(Self.result(intact: whole, missing: missing, damaged: damaged)) }
        return bad.isEmpty
    }

    /// The result of ``verify(forgets:asJSON:print:)`` as an object, with the digests of bad files.
    private static func result(intact: Int, missing: [String], damaged: [String]) -> String {
        JSONText.members { json in
            json.member("intact", intact)
            json.member("missing", missing)
            json.member("damaged", damaged)
        }
    }

    /// Removes files beyond the retention; returns the result as a sentence or an object. Files in use stay, even
    /// beyond the quota. Removes files from the disk only under the lock of the data directory; without it, the gateway
    /// that holds the lock does. The member `bytes` of the object is the decrease of the total size of known files.
    package func prune(_ retention: GatewayConfig.Media.Retention, asJSON: Bool) async throws -> String {
        let pruning = OperatorAction.command(
            "media.prune", parameters: ["unused": retention.age.text, "bytes": String(retention.bytes)])
        let cleanup = MediaCleanup(queue, store) { retention }
        let before = try await queue.mediaBytes()
        let directory = try lock()
        defer { withExtendedLifetime(directory) {} }
        let count = try await (directory == nil ? cleanup.forget() : cleanup.run())
        try await queue.record(pruning, count: count)
        guard !asJSON else {
            // A running gateway may have stored files meanwhile.
            let bytes = try await max(0, before - queue.mediaBytes())
            return JSONText.members { json in
                json.member("removed", count)
                json.member("bytes", bytes)
            }
        }
        return directory == nil
            ? "\(Counted.words(count, "file")) forgotten; the running gateway deletes them within an hour."
            : "\(Counted.words(count, "file")) removed."
    }

    /// The lock of the data directory; nil while another process holds it. The caller keeps the directory alive while
    /// it removes files. Other failures of the directory are thrown.
    private func lock() throws(StoreError) -> DataDirectory? {
        do throws(StoreError) { return try DataDirectory(path: path) } catch .inUse { return nil }
    }
}
