import ArgumentParser
import Foundation
import SignalboxConfig
import SignalboxGateway
import SignalboxNotification
import SignalboxRouting
import SignalboxStore

/// Works on the queue and the folder `media` of the data directory, also while the gateway runs.
struct MediaFiles: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "media", abstract: "List, verify and remove stored files of notifications.",
        subcommands: [List.self, Verify.self, Prune.self])

    /// Changes no file and no time of last use.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List files, the most recently used first; or pending and failed downloads.")

        /// Only the data directory is read from the config, which may be missing.
        @OptionGroup var options: GatewayOptions
        /// The newest request first.
        @Flag(help: "List URLs whose download is pending or failed instead.") var downloads = false
        /// A negative number counts as 0.
        @Option(help: "Maximum number of lines.") var limit = 50
        /// Replaces the table, and has all fields.
        @Flag(help: "Print one JSON object per line.") var json = false

        /// Reads one page, also of a large queue. Reads the queue only: a listed file may be missing on the disk,
        /// which `verify` finds.
        func run() async throws {
            let queue = try options.queue()
            if downloads {
                if !json { print(MediaURLRecord.heading) }
                for record in try await queue.mediaURLs(
                    [.wanted, .resting, .failed], before: nil, limit: max(0, limit))
                { print(json ? record.json : record.row) }
            } else {
                if !json { print(MediaFileRecord.heading) }
                for record in try await queue.mediaFiles(after: nil, limit: max(0, limit)) {
                    print(json ? record.json : record.row)
                }
            }
        }
    }

    /// Reads every stored file once. A file is bad if it is missing, cannot be read, or has another SHA-256 than its
    /// name.
    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Compare every file with its digest; also while the gateway runs.",
            discussion: """
                Lists files that are missing or damaged, and ends with 1 if there are any. With --forget they are \
                removed, and downloaded again for the next event that names them.
                """)

        /// Only the data directory is read from the config, which may be missing.
        @OptionGroup var options: GatewayOptions
        /// Changes the queue and removes the files. The exit code stays 1, because files were bad.
        @Flag(help: "Remove missing and damaged files.") var forget = false

        /// Takes as long as reading all stored files. Each bad file is printed when it is found. A file that was
        /// downloaded again between the check and its removal is kept.
        func run() async throws {
            let (queue, store) = try MediaFiles.open(options)
            let (whole, bad) = try await store.verify(queue) { print("\($0.sha256)  \($1)") }
            print("\(whole) files intact, \(bad.count) damaged or missing.")
            guard !bad.isEmpty else { return }
            if forget {
                try await store.forget(bad, queue)
                try await queue.record(.command("media.forget"), count: bad.count)
                print("They are removed, and downloaded again for the next event that names them.")
            }
            throw ExitCode.incomplete
        }
    }

    /// Takes the lock of the data directory if it is free, and removes files from the disk only under that lock.
    struct Prune: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove files that are unused or exceed the quota.",
            discussion: """
                Keeps every file that a waiting delivery needs. Without options, media.retention applies. While a \
                gateway runs, it removes the files from the disk within the hour.
                """)

        /// The config supplies the limits that the options do not replace, and the data directory.
        @OptionGroup var options: GatewayOptions

        @Option(
            help: "Remove files that were not used for this time, such as 30d.",
            transform: { text in
                guard let duration = Duration(text: text) else {
                    throw ValidationError("Invalid duration \(text): write it as 12h or 30d.")
                }
                return duration
            })
        /// Nil: the value of media.retention.
        var unused: Duration?

        @Option(
            help: "Remove the least recently used files down to this total size, such as 5GB.",
            transform: { text in
                guard let bytes = ByteCount.read(text) else {
                    throw ValidationError("Invalid size \(text): write it as 500MB or 5GB.")
                }
                return bytes
            })
        /// In bytes. Nil: the value of media.retention.
        var bytes: Int?

        /// The options replace the limits of the config for this run only. Files in use stay, also beyond the quota.
        /// Without the lock, files are removed from the queue only, and the gateway that holds it removes them from
        /// the disk.
        func run() async throws {
            let (queue, store) = try MediaFiles.open(options)
            let config = try options.optionalConfig().config
            var retention = config.media.retention
            if let unused { retention.age = unused }
            if let bytes { retention.bytes = Int64(bytes) }
            let pruning = OperatorAction.command(
                "media.prune",
                parameters: ["unused": retention.age.text, "bytes": String(retention.bytes)])
            let cleanup = MediaCleanup(queue, store) { [retention] in retention }
            // Without the lock, a gateway may store files that are being removed.
            guard let directory = try lock(options.dataDirectory(file: config.gateway.dataDirectory)) else {
                let count = try await cleanup.forget()
                try await queue.record(pruning, count: count)
                print("\(count) files forgotten; the running gateway removes them within the hour.")
                return
            }
            defer { withExtendedLifetime(directory) {} }
            let count = try await cleanup.run()
            try await queue.record(pruning, count: count)
            print("\(count) files removed.")
        }

        /// The lock of a data directory; nil while another process holds it. The caller keeps the directory alive
        /// while it removes files. Other failures of the directory are thrown.
        private func lock(_ path: String) throws(StoreError) -> DataDirectory? {
            do throws(StoreError) { return try DataDirectory(path: path) } catch .inUse { return nil }
        }
    }

    /// The store does not lock the directory. Throws when there is no queue.
    private static func open(_ options: GatewayOptions) throws -> (any Store, MediaStore) {
        let config = try options.optionalConfig().config
        let media = options.dataDirectory(file: config.gateway.dataDirectory) + "/media"
        return (try options.existingQueue(config), MediaStore(besideOwnerOf: media))
    }
}
