import ArgumentParser
import SignalboxCommands
import SignalboxConfig
import SignalboxRouting

/// Works on the queue and the media directory, even while the gateway runs.
struct MediaFiles: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "media", abstract: "List, verify and remove stored files of notifications.",
        subcommands: [List.self, Verify.self, Prune.self])

    /// Changes no file and no time of last use.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List files, the most recently used first; or pending and failed downloads.")

        /// Only the data directory is read from the config, which may be missing.
        @OptionGroup var options: GatewayOptions
        /// The newest request first.
        @Flag(help: "List URLs whose download is pending or failed instead.") var downloads = false
        /// At least 1.
        @Option(help: "Maximum number of lines.") var limit = 50
        /// Replaces the table, and has all fields.
        @Flag(help: "Print one JSON object per line.") var json = false

        func validate() throws { try checkLimit(limit) }

        /// Reads one page, even of a large queue. Reads the queue only: a listed file may be missing on the disk, which
        /// `verify` finds.
        func run() async throws {
            try await MediaFiles.upkeep(options).list(downloads: downloads, limit: limit, asJSON: json) { print($0) }
        }
    }

    /// Reads every stored file once. A file is bad if it is missing, cannot be read, or has another SHA-256 than its
    /// name.
    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify", abstract: "Compare every file with its digest, even while the gateway runs.",
            discussion: """
                Lists files that are missing or damaged, and ends with 1 if there are any. With --forget, their \
                entries are removed; the next event that uses such a file downloads it again.
                """)

        /// Only the data directory is read from the config, which may be missing.
        @OptionGroup var options: GatewayOptions
        /// Changes the queue and removes the files. The exit code stays 1, because files were bad.
        @Flag(help: "Remove missing and damaged files.") var forget = false
        @Flag(help: "Print one JSON object.") var json = false

        /// Takes as long as reading all stored files. Each bad file is printed when it is found. A file that was
        /// downloaded again between the check and its removal is kept.
        func run() async throws {
            let isIntact = try await MediaFiles.upkeep(options).verify(forgets: forget, asJSON: json) { print($0) }
            if !isIntact { throw ExitCode.incomplete }
        }
    }

    /// Takes the lock of the data directory if it is free, and removes files from the disk only under that lock.
    struct Prune: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "prune", abstract: "Remove files that are unused or exceed the quota.",
            discussion: """
                Keeps every file that a waiting delivery needs. Without options, media.retention applies. If a \
                gateway runs, the gateway deletes the files within an hour.
                """)

        /// The config supplies the limits that the options do not replace, and the data directory.
        @OptionGroup var options: GatewayOptions

        @Option(
            help: "Remove files that were not used for this time, such as 30d.",
            transform: argument({ Duration(text: $0) }) { "Invalid duration \($0): write it as 12h or 30d." })
        /// Nil: the value of media.retention.
        var unused: Duration?

        @Option(
            help: "Remove the least recently used files down to this total size, such as 5GB.",
            transform: argument({ ByteCount.read($0) }) { "Invalid size \($0): write it as 500MB or 5GB." })
        /// In bytes. Nil: the value of media.retention.
        var bytes: Int?
        @Flag(help: "Print one JSON object.") var json = false

        /// The options replace the limits of the config for this run only. Files in use stay, even beyond the quota.
        /// Without the lock, files are removed from the queue only, and the gateway that holds it removes them from
        /// the disk.
        func run() async throws {
            var retention = try options.optionalConfig().config.media.retention
            if let unused { retention.age = unused }
            if let bytes { retention.bytes = Int64(bytes) }
            print(try await MediaFiles.upkeep(options).prune(retention, asJSON: json))
        }
    }

    /// Throws when there is no queue.
    private static func upkeep(_ options: GatewayOptions) throws -> MediaUpkeep {
        let config = try options.optionalConfig().config
        return MediaUpkeep(
            try options.existingQueue(config),
            dataDirectory: options.dataDirectory(file: config.gateway.dataDirectory), files: config.media.directory)
    }
}
