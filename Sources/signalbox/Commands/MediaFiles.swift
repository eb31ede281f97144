import ArgumentParser
import Foundation
import SignalboxConfig
import SignalboxEgress
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxStore

struct MediaFiles: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "media", abstract: "See which files of notifications are kept, check them, remove old ones.",
        subcommands: [List.self, Verify.self, Prune.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List files, the one that was used last first; or downloads that wait or failed.")

        @OptionGroup var options: GatewayOptions
        @Flag(help: "List the URLs that wait for their download or failed instead.") var downloads = false
        @Option(help: "At most this many.") var limit = 50
        @Flag(help: "One JSON object a line.") var json = false

        func run() async throws {
            let queue = try Deliveries.queue(options)
            let limit = max(0, limit)
            if downloads {
                let records = try await Deliveries.orRefuse { () throws(StoreError) in
                    try await queue.mediaURLs(limit: limit)
                }
                if !json { print("STATE    ATTEMPTS  NEXT / SINCE              WHY           URL") }
                for record in records { print(json ? record.json : record.row) }
            } else {
                let records = try await Deliveries.orRefuse { () throws(StoreError) in
                    try await queue.mediaFiles(limit: limit)
                }
                if !json {
                    print("DIGEST        TYPE             BYTES      PIXELS      USED                      URL")
                }
                for record in records { print(json ? record.json : record.row) }
            }
        }
    }

    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Read every file and compare it with its digest; also while the gateway runs.",
            discussion: """
                Says which files are missing or damaged, and ends with 1 if there are any. With --forget they are \
                forgotten, and downloaded again when an event next asks for them.
                """)

        @OptionGroup var options: GatewayOptions
        @Flag(help: "Forget what is missing or damaged.") var forget = false

        private static let page = 200

        func run() async throws {
            let (queue, store) = try MediaFiles.open(options)
            var (whole, bad): (Int, [MediaFile]) = (0, [])
            var last: MediaFileRecord?
            repeat {
                let place = last
                let records = try await Deliveries.orRefuse { () throws(StoreError) in
                    try await queue.mediaFiles(after: place, limit: Self.page)
                }
                for record in records {
                    guard let fault = Self.fault(of: record.file, in: store) else {
                        whole += 1
                        continue
                    }
                    print("\(record.file.sha256)  \(fault)")
                    bad.append(record.file)
                }
                last = records.count == Self.page ? records.last : nil
            } while last != nil
            print("\(whole) files are as they were kept, \(bad.count) are not.")
            guard !bad.isEmpty else { return }
            if forget { try await forget(bad, queue, store) }
            throw ExitCode.incomplete
        }

        private static func fault(of file: MediaFile, in store: MediaStore) -> String? {
            guard let found = store.find(file.sha256) else { return "missing" }
            do throws(MediaError) {
                let digest = hexadecimal(sha256(try store.read(found)))
                return digest == file.sha256 ? nil : "damaged: it has the digest \(digest)"
            } catch {
                return "\(error)"
            }
        }

        private func forget(_ files: [MediaFile], _ queue: SQLiteQueue, _ store: MediaStore) async throws {
            for file in files {
                // It may have been downloaded again meanwhile.
                guard Self.fault(of: file, in: store) != nil else { continue }
                // Off the disk first: what is kept from then on is whole.
                _ = try await store.remove([file.sha256], olderThan: .distantFuture)
                try await Deliveries.orRefuse { () throws(StoreError) in try await queue.forgetMedia([file.sha256]) }
            }
            print("They are forgotten, and downloaded again when an event asks for them.")
        }
    }

    struct Prune: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove files that no event used for long, and those for which there is no room.",
            discussion: """
                None that a waiting delivery needs. Without options as media.retention says. While the gateway runs it \
                is the gateway that removes them from the disk, within the hour.
                """)

        @OptionGroup var options: GatewayOptions

        @Option(
            help: "Remove what was not used for so long, such as 30d.",
            transform: { text in
                guard let duration = Duration(text: text) else {
                    throw ValidationError("\(text) is no duration: write it as 12h or 30d.")
                }
                return duration
            })
        var unused: Duration?

        @Option(
            help: "Remove the longest unused until so much is left, such as 5GB.",
            transform: { text in
                guard let bytes = ByteCount.read(text) else {
                    throw ValidationError("\(text) is no size: write it as 500MB or 5GB.")
                }
                return bytes
            })
        var bytes: Int?

        func run() async throws {
            let (queue, store) = try MediaFiles.open(options)
            var retention = try NormalizerOptions(options).config().media.retention
            if let unused { retention.age = unused }
            if let bytes { retention.bytes = Int64(bytes) }
            let cleanup = MediaCleanup(queue, store, retention: retention)
            // Who has the directory keeps files meanwhile, perhaps the very ones that leave.
            guard let directory = try MediaFiles.unlessInUse(MediaFiles.directory(options)) else {
                let count = try await cleanup.forget()
                print("\(count) files are forgotten; the gateway that is running removes them within the hour.")
                return
            }
            // It holds the lock for as long as it lives.
            defer { withExtendedLifetime(directory) {} }
            let count = try await cleanup.run()
            print("\(count) files are removed.")
        }
    }

    /// The lock of a data directory; nil while another process holds it.
    private static func unlessInUse(_ path: String) throws(ExitCode) -> DataDirectory? {
        do throws(StoreError) {
            return try DataDirectory(path: path)
        } catch .inUse {
            return nil
        } catch {
            throw refuse("\(error)")
        }
    }

    private static func directory(_ options: GatewayOptions) throws -> String {
        options.dataDirectory(file: try NormalizerOptions(options).config().gateway.dataDirectory)
    }

    private static func open(_ options: GatewayOptions) throws -> (SQLiteQueue, MediaStore) {
        (try Deliveries.queue(options), MediaStore(besideOwnerOf: try directory(options) + "/media"))
    }
}

extension MediaFileRecord {
    fileprivate var row: String {
        let pixels = file.width.flatMap { width in file.height.map { "\(width)x\($0)" } } ?? ""
        let cells = [
            (String(file.sha256.prefix(12)), 14), (file.contentType, 17), (String(file.bytes), 11), (pixels, 12),
            (Timestamp(usedAt).text, 26),
        ]
        return cells.map { $0.padding(toLength: max($1, $0.count + 1), withPad: " ", startingAt: 0) }.joined()
            + (urls.first.map { $0.singleLine } ?? "made here") + (urls.count > 1 ? " and others" : "")
    }

    fileprivate var json: String {
        var json = JSONWriter()
        json.beginObject()
        json.member("sha256", file.sha256)
        json.member("contentType", file.contentType)
        json.key("bytes")
        json.integer(file.bytes)
        for (name, number) in [("width", file.width), ("height", file.height), ("milliseconds", file.milliseconds)] {
            guard let number else { continue }
            json.key(name)
            json.integer(number)
        }
        json.member("keptAt", Timestamp(keptAt).text)
        json.member("usedAt", Timestamp(usedAt).text)
        json.key("urls")
        json.strings(urls)
        json.endObject()
        return JSONText(json).string
    }
}

extension MediaURLRecord {
    /// Between two attempts it waits too.
    private var word: String { state == .resting ? "waiting" : state == .wanted ? "wanted" : state.rawValue }

    private var time: Date { state == .failed ? checkedAt ?? wantedAt : due }

    fileprivate var row: String {
        let cells = [(word, 9), (String(attempts), 10), (Timestamp(time).text, 26), (failure?.code.rawValue ?? "", 14)]
        return cells.map { $0.padding(toLength: max($1, $0.count + 1), withPad: " ", startingAt: 0) }.joined()
            + url.singleLine
    }

    fileprivate var json: String {
        var json = JSONWriter()
        json.beginObject()
        json.member("url", url)
        json.member("state", word)
        json.key("attempts")
        json.integer(attempts)
        json.member(state == .failed ? "failedAt" : "due", Timestamp(time).text)
        json.member("reason", failure?.code.rawValue)
        json.member("detail", failure?.words)
        json.member("sha256", sha256)
        json.endObject()
        return JSONText(json).string
    }
}

extension String {
    /// For a terminal: what is no visible ASCII is escaped, since it is somebody else's.
    fileprivate var singleLine: String {
        String(
            decoding: utf8.prefix(300).flatMap { byte in
                (0x21...0x7E).contains(byte) ? [byte] : Array("%\(String(byte, radix: 16, uppercase: true))".utf8)
            }, as: UTF8.self)
    }
}
