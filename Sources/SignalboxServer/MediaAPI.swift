package import Foundation
import HTTPTypes
import Hummingbird
import NIOPosix
package import SignalboxGateway
import SignalboxNotification

/// `GET /media/{sha256}`: the files that events point to.
///
/// Open to everybody, unless links are signed: a name has 256 bits and stands in events only. Nothing lists the names.
package struct MediaAPI: Sendable {
    static let endpoints = [Endpoint("/media/{sha256}", "GET, HEAD", parameters: ["expires", "signature"])]

    private let store: MediaStore
    private let links: MediaLinks
    private let now: @Sendable () -> Date
    private let files = FileIO()

    /// `links`: who may have a file.
    package init(_ store: MediaStore, links: MediaLinks, now: @escaping @Sendable () -> Date = { Date() }) {
        self.store = store
        self.links = links
        self.now = now
    }

    func add(to router: Router<GatewayRequestContext>) {
        router.get("/media/{sha256}") { request, context in
            try await file(context.parameters.get("sha256") ?? "", for: request, in: context)
        }
    }

    private func file(_ name: String, for request: Request, in context: GatewayRequestContext) async throws -> Response
    {
        // Before the file is looked for: who has no link does not learn which files there are.
        let caching = try caching(of: name, for: request)
        // Where the file's bytes are read, too: a thread of Swift's must not wait for a disk.
        let found = try await NIOThreadPool.singleton.runIfActive { [store] in
            try store.find(name).map { ($0, try store.kind(of: $0)) }
        }
        guard let (media, kind) = found else { throw Problem.noMedia }
        let tag = "\"\(media.sha256)\""
        if let wanted = request.headers[.ifMatch], !Self.lists(tag, wanted, takesWeak: false) {
            throw Problem.otherMedia
        }
        var headers = Self.headers(of: kind, named: media.sha256, caching: caching)
        if Self.lists(tag, request.headers[.ifNoneMatch], takesWeak: true) {
            return Response(status: .notModified, headers: headers)
        }
        switch Self.range(of: request, length: media.bytes, tag: tag) {
        case .unsatisfiable: throw Problem.noSuchRange(of: media.bytes)
        case .whole:
            return Response(
                status: .ok, headers: headers,
                body: try await files.loadFile(path: store.path(of: media), context: context))
        case .part(let range):
            headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound)/\(media.bytes)"
            let body = try await files.loadFile(path: store.path(of: media), range: range, context: context)
            return Response(status: .partialContent, headers: headers, body: body)
        }
    }

    /// How long the answer may be kept, by whom.
    private func caching(of name: String, for request: Request) throws(Problem) -> String {
        let query = request.uri.queryParameters
        let verdict = links.verdict(
            on: name, expires: query["expires"].map { String($0) }, signature: query["signature"].map { String($0) },
            now: now())
        switch verdict {
        case .open: return "public, max-age=31536000, immutable"
        case .signed(let seconds): return "private, max-age=\(seconds)"
        case .unsigned: throw .unsignedLink
        case .wrong: throw .wrongLink
        case .expired: throw .expiredLink
        }
    }

    /// Nothing in a file is run or guessed at by a browser; what is neither picture, sound nor film is a file to save.
    private static func headers(of kind: MediaKind, named name: String, caching: String) -> HTTPFields {
        var headers: HTTPFields = [
            .eTag: "\"\(name)\"", .cacheControl: caching, .acceptRanges: "bytes",
            .xContentTypeOptions: "nosniff", .contentSecurityPolicy: "default-src 'none'; sandbox",
        ]
        switch kind {
        case .calendar:
            headers[.contentType] = "text/calendar; charset=utf-8"
            headers[.contentDisposition] = "attachment; filename=\"event.ics\""
        case _ where kind.family != nil:
            headers[.contentType] = kind.contentType
            headers[.contentDisposition] = "inline; filename=\"\(name.prefix(12)).\(kind.fileExtension)\""
        default:
            headers[.contentType] = "application/octet-stream"
            headers[.contentDisposition] = "attachment"
        }
        return headers
    }

    /// Only GET has ranges, and `if-range` another file's tag means all of this one.
    private static func range(of request: Request, length: Int, tag: String) -> ByteRange {
        guard request.method == .get, request.headers[.ifRange].map({ $0 == tag }) ?? true else { return .whole }
        return ByteRange(request.headers[.range], of: length)
    }

    /// True when a list of tags holds this one. Weak tags are as good for `if-none-match`, and no good for `if-match`
    /// (RFC 9110, 13.1.1 and 13.1.2).
    private static func lists(_ tag: String, _ header: String?, takesWeak: Bool) -> Bool {
        guard let header else { return false }
        return header.split(separator: ",").contains { entry in
            let entry = entry.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
            return entry == "*" || entry == tag || (takesWeak && entry == "W/" + tag)
        }
    }
}
