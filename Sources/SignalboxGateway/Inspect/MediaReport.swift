import Foundation
import SignalboxEgress
package import SignalboxJSON
package import SignalboxNotification
package import SignalboxStore

/// Stored files for `signalbox media list`.
extension MediaFileRecord {
    /// The heading of ``row``. Columns as wide as those of the rows.
    package static let heading = "DIGEST        TYPE             BYTES      PIXELS      USED                      URL"

    /// One stored file as a row of a table. The digest is cut to 12 digits, and a file with several URLs shows the
    /// first one. A file without a URL was made by the gateway, such as a calendar file. Pixels are empty unless both
    /// sides are known.
    package var row: String {
        let pixels = file.width.flatMap { width in file.height.map { "\(width)x\($0)" } } ?? ""
        let source = urls.first.map { $0.singleLine } ?? "made here"
        let cells = [
            String(file.sha256.prefix(12)), file.contentType, String(file.bytes), pixels, Timestamp(usedAt).text,
        ]
        return TextTable.row(
            cells + [source + (urls.count > 1 ? " and others" : "")], widths: [13, 16, 10, 11, 25], separator: " ")
    }

    /// The file as one line of JSON, for scripts. Members without a value are left out. Times are RFC 3339 in UTC.
    /// `milliseconds` is the duration of a file that an earlier version stored. `usedAt` is exact to the hour.
    package var json: String {
        JSONText.members { json in
            json.members(of: file)
            json.member("keptAt", Timestamp(keptAt).text)
            json.member("usedAt", Timestamp(usedAt).text)
            json.member("urls", urls)
        }
    }
}

extension JSONWriter {
    /// Writes the properties of a stored file into an open object. Absent ones are left out. `hidesDigest`: without the
    /// digest, which is enough to fetch the file unless links are signed.
    package mutating func members(of file: MediaFile, hidesDigest: Bool = false) {
        if !hidesDigest { member("sha256", file.sha256) }
        member("contentType", file.contentType)
        member("bytes", file.bytes)
        member("width", file.width)
        member("height", file.height)
        member("milliseconds", file.milliseconds)
    }
}

/// Downloads for `signalbox media list --downloads`.
extension MediaURLRecord {
    /// The heading of ``row``.
    package static let heading = "STATE    ATTEMPTS  NEXT / SINCE              WHY           URL"

    /// A download between two attempts waits too. The words are those of the queue's states, except that a resting
    /// download is shown as waiting.
    private var word: String { state == .resting ? "waiting" : state == .wanted ? "wanted" : state.rawValue }

    /// For a failed download the time of the last check, for the others the time of the next step.
    private var time: Date { state == .failed ? checkedAt ?? wantedAt : due }

    /// One download as a row of a table. The reason is the stable code of the last failure; empty before the first.
    package var row: String {
        TextTable.row(
            [word, String(attempts), Timestamp(time).text, failure?.code.rawValue ?? "", url.singleLine],
            widths: [8, 9, 25, 13], separator: " ")
    }

    /// The download as one line of JSON, for scripts. The member with the time is `failedAt` for a failed download
    /// and `due` for the others. `reason` is a stable code, `detail` its explanation for people; both are absent
    /// before the first failure.
    package var json: String {
        JSONText.members { json in
            json.member("url", url)
            json.member("state", word)
            json.member("attempts", attempts)
            json.member(state == .failed ? "failedAt" : "due", Timestamp(time).text)
            json.member("reason", failure?.code.rawValue)
            json.member("detail", failure?.words)
            json.member("sha256", sha256)
        }
    }
}

extension String {
    /// Escapes every byte that is not visible ASCII: URLs come from payloads and must not control the terminal. Cuts
    /// the text to 300 bytes first. The result has at most 900 characters.
    fileprivate var singleLine: String {
        String(
            decoding: utf8.prefix(300).flatMap { byte in
                (0x21...0x7E).contains(byte) ? [byte] : Array("%\(hexadecimal([byte]).uppercased())".utf8)
            }, as: UTF8.self)
    }
}

/// Why a stored file is bad.
package enum MediaFault: Sendable, Equatable, CustomStringConvertible {
    /// The disk has no such file.
    case missing
    /// The file has another digest or cannot be read: the reason, as a clause.
    case damaged(String)

    /// A clause without full stop.
    package var description: String {
        switch self {
        case .missing: "missing"
        case .damaged(let reason): reason
        }
    }
}

/// The checks of `signalbox media verify`.
extension MediaStore {
    /// Why a stored file differs from its record; nil if its digest is right. Reads the whole file, on the calling
    /// thread.
    func fault(of file: MediaFile) -> MediaFault? {
        guard let found = find(file.sha256) else { return .missing }
        do throws(MediaError) {
            let actual = try digest(of: found)
            return actual == file.sha256 ? nil : .damaged("damaged: it has the digest \(actual)")
        } catch {
            return .damaged("\(error)")
        }
    }

    /// Reads the file in pieces of 1 MiB, because a file may have 1 GiB. Throws if the file has another size than its
    /// description.
    private func digest(of media: StoredMedia) throws(MediaError) -> String {
        try withReader(of: media) { (read) throws(MediaError) in
            var digest = RunningDigest()
            var count = 0
            while case let piece = try read(count, 1 << 20), !piece.isEmpty {
                piece.withUnsafeBytes { digest.update($0) }
                count += piece.count
            }
            guard count == media.bytes else { throw MediaError(reason: "the file changed during the check") }
            return hexadecimal(digest.finish())
        }
    }

    /// Compares every stored file with its digest, and passes each fault to `report`. Returns the number of intact
    /// files and the damaged or missing ones. Reads the list in pages of 200 and each file in pieces, so memory
    /// stays bounded. Throws errors of the queue; an error of the disk is a fault of its file. `report`
    /// is called in the order in which the files were recorded. A file that is stored meanwhile may be left out.
    package func verify(
        _ queue: any Store, report: (MediaFile, MediaFault) -> Void
    ) async throws(StoreError) -> (intact: Int, bad: [MediaFile]) {
        var (intact, bad): (Int, [MediaFile]) = (0, [])
        var page: [MediaFileRecord] = []
        repeat {
            page = try await queue.mediaFiles(numberedAfter: page.last?.id ?? 0, limit: 200)
            for file in page.map(\.file) {
                if let fault = fault(of: file) {
                    report(file, fault)
                    bad.append(file)
                } else {
                    intact += 1
                }
            }
        } while !page.isEmpty
        return (intact, bad)
    }

    /// Removes files that are still damaged or missing from the disk and from the queue. Events keep their links to
    /// them. Throws errors of the queue and of the disk; the files before the failing one are removed then. Safe to
    /// repeat.
    package func forget(_ files: [MediaFile], _ queue: any Store) async throws {
        // The file may have been downloaded again since.
        for file in files where fault(of: file) != nil {
            // The disk first: a file that is stored after this is intact.
            _ = try await remove([file.sha256], olderThan: .distantFuture)
            try await queue.forgetMedia([file.sha256])
        }
    }
}
