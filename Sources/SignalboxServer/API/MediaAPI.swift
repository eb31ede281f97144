import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOPosix
import SignalboxGateway
import SignalboxNotification

/// Serves the files that events link to.
///
/// Without signed links, every client that knows a file's name may get it. The name is a digest of 256 bits. Only
/// events and answers to operators who may read content contain it.
struct MediaAPI: Sendable {
    /// Finds files by digest; never by a path of the client.
    let store: MediaStore
    /// Decides the access to a file.
    let links: MediaLinks
    /// Bytes that are read at once.
    private static let piece = 64 * 1024

    /// Answers conditional and range requests (RFC 9110, 13 and 14). Throws 404 for an unknown file, 403 for a link
    /// that is not valid, 412 and 416 for conditions that do not hold. The path names a digest; any other text is an
    /// unknown file, even if it is removed meanwhile. If it is removed after the response has begun, the connection is
    /// closed; a file that is being sent stays readable, because it is open.
    func file(_ call: Call) async throws -> Response {
        // Before the lookup, so that a client without a link does not learn which files exist.
        let caching = try caching(of: call)
        // On the threads that read files, because a Swift task must not wait for a disk.
        let found = try await NIOThreadPool.singleton.runIfActive { [self] in try find(call.path("sha256")) }
        guard let (media, kind) = found else { throw Problem.noMedia }
        let (tag, conditions) = (EntityTag(quoting: media.sha256), call.request.headers)
        if conditions[.ifMatch] != nil, !tag.isListed(in: conditions[.ifMatch], acceptsWeak: false) {
            throw Problem.otherMedia
        }
        var headers = Self.headers(of: kind, named: media.sha256, tag: tag, caching: caching)
        if tag.isListed(in: conditions[.ifNoneMatch], acceptsWeak: true) {
            return Response(status: .notModified, headers: headers)
        }
        switch Self.range(of: call.request, length: media.bytes, tag: tag) {
        case .unsatisfiable: throw Problem.noSuchRange(of: media.bytes)
        case .whole:
            return Response(status: .ok, headers: headers, body: try await content(of: media))
        case .part(let range):
            headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound)/\(media.bytes)"
            return Response(status: .partialContent, headers: headers, body: try await content(of: media, range))
        }
    }

    /// The file and its kind; nil for an unknown file, and for one that is removed before its first bytes are read.
    /// Blocks during the read. Throws ``MediaError`` for a file that cannot be read.
    func find(_ digest: String) throws(MediaError) -> (StoredMedia, MediaKind)? {
        guard let media = store.find(digest) else { return nil }
        do throws(MediaError) {
            return (media, try store.kind(of: media))
        } catch {
            guard store.find(digest) != nil else { return nil }
            throw error
        }
    }

    /// The content of a file, or a range of it. Throws 404 if the file was removed since the lookup. A piece is read
    /// when the connection has accepted the former one: Hummingbird's `FileIO` reads megabytes ahead, which many
    /// clients that do not read would keep in memory.
    func content(of media: StoredMedia, _ range: ClosedRange<Int>? = nil) async throws -> ResponseBody {
        let reader: MediaReader
        do {
            reader = try await NIOThreadPool.singleton.runIfActive { [store] in try MediaReader(media, in: store) }
        } catch is MediaError {
            throw Problem.noMedia
        }
        let bytes = range.map { $0.lowerBound..<$0.upperBound + 1 } ?? 0..<media.bytes
        return ResponseBody(contentLength: bytes.count) { writer in
            for start in stride(from: bytes.lowerBound, to: bytes.upperBound, by: Self.piece) {
                let count = min(Self.piece, bytes.upperBound - start)
                let piece = try await NIOThreadPool.singleton.runIfActive { try reader.bytes(at: start, upTo: count) }
                guard piece.count == count else { throw MediaError(reason: "the file is too short") }
                try await writer.write(ByteBuffer(bytes: piece))
            }
            try await writer.finish(nil)
        }
    }

    /// How long the response may be cached, and by whom. Throws for a link that does not grant access. Open files
    /// never change, so caches may keep them for a year. A signed link is cached until it expires. The verdict does
    /// not depend on whether the file exists. `now` is the wall clock, as in the link's expiry.
    private func caching(of call: Call) throws(Problem) -> String {
        let verdict = links.verdict(
            on: call.path("sha256"), expires: call.query("expires"), signature: call.query("signature"), now: Date())
        switch verdict {
        case .open: return "public, max-age=31536000, immutable"
        case .signed(let seconds): return "private, max-age=\(seconds)"
        case .unsigned: throw .unsignedLink
        case .wrong: throw .wrongLink
        case .expired: throw .expiredLink
        }
    }

    /// Browsers neither run a file nor guess its type. Files other than images, audio and video are downloads. Names
    /// the file by the first digits of its digest. The policy `default-src 'none'; sandbox` keeps an SVG or HTML file
    /// that was stored by mistake from running in the gateway's origin.
    private static func headers(
        of kind: MediaKind, named name: String, tag: EntityTag, caching: String
    ) -> HTTPFields {
        var headers: HTTPFields = [
            .eTag: tag.text, .cacheControl: caching, .acceptRanges: "bytes",
            .xContentTypeOptions: "nosniff", .contentSecurityPolicy: "default-src 'none'; sandbox",
        ]
        let (type, disposition) =
            switch kind {
            case .calendar: ("text/calendar; charset=utf-8", "attachment; filename=\"event.ics\"")
            case _ where kind.family != nil:
                (kind.contentType, "inline; filename=\"\(name.prefix(12)).\(kind.fileExtension)\"")
            default: ("application/octet-stream", "attachment")
            }
        headers[.contentType] = type
        headers[.contentDisposition] = disposition
        return headers
    }

    /// Only GET has ranges, and an `if-range` with another tag requests the whole file. Weak tags never match in
    /// `if-range` (RFC 9110, 13.1.5).
    private static func range(of request: Request, length: Int, tag: EntityTag) -> ByteRange {
        guard request.method == .get, request.headers[.ifRange].map({ $0 == tag.text }) ?? true else { return .whole }
        return ByteRange(request.headers[.range], of: length)
    }
}
