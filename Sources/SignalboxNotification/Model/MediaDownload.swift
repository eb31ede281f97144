package import Foundation

/// A URL to download, as the queue leases it.
package struct MediaJob: Sendable, Equatable {
    /// The queue's number of the URL.
    package let id: Int64
    /// The URL as the payload spells it.
    package let url: String
    /// The host whose share of concurrent downloads the job uses; see ``host(of:)``.
    package let host: String
    /// Failed downloads since the URL was requested.
    package let attempts: Int
    /// Validators of the stored file, for a conditional request.
    package let validators: MediaValidators?
    /// The SHA-256 of that file. It may be missing on the disk.
    package let stored: String?

    /// A job without validators makes an unconditional request.
    package init(
        id: Int64, url: String, host: String, attempts: Int = 0, validators: MediaValidators? = nil,
        stored: String? = nil
    ) {
        (self.id, self.url, self.host) = (id, url, host)
        (self.attempts, self.validators, self.stored) = (attempts, validators, stored)
    }

    /// Scheme, host and port of a URL in lower case, without the scheme's default port; `?` if it has no host. Only
    /// distinguishes hosts: the HTTP client parses the URL strictly.
    package static func host(of url: String) -> String {
        let bytes = url.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else {
            return "?"
        }
        let scheme = url[..<colon].lowercased()
        let rest = bytes[bytes.index(colon, offsetBy: 3)...]
        // An authority ends with a slash, question mark or hash (RFC 3986, 3.2); some clients accept a backslash.
        var authority = rest.prefix { !"/?#\\".utf8.contains($0) }
        if let at = authority.lastIndex(of: UInt8(ascii: "@")) { authority = authority[authority.index(after: at)...] }
        let host = Substring(authority).lowercased()
        guard !host.isEmpty else { return "?" }
        let port = scheme == "https" ? ":443" : scheme == "http" ? ":80" : nil
        guard let port, host.hasSuffix(port) else { return "\(scheme)://\(host)" }
        return "\(scheme)://\(host.dropLast(port.count))"
    }
}

/// Validators of a response, by which a later request asks for changes only (RFC 9110, 8.8).
package struct MediaValidators: Sendable, Equatable {
    /// Unchanged, as the server sent it.
    package var etag: String?
    /// The `Last-Modified` of the response, unchanged.
    package var lastModified: String?

    /// Empty without arguments.
    package init(etag: String? = nil, lastModified: String? = nil) {
        (self.etag, self.lastModified) = (etag, lastModified)
    }
}

/// The period in which a downloaded file counts as current, and the validators for the request after it.
package struct MediaFreshness: Sendable, Equatable {
    /// Empty if the server sent none.
    package var validators: MediaValidators
    /// The file needs no request before this time.
    package var until: Date

    /// `until`: by the gateway's clock.
    package init(validators: MediaValidators = MediaValidators(), until: Date) {
        (self.validators, self.until) = (validators, until)
    }
}

/// The result of one download.
package enum MediaOutcome: Sendable, Equatable {
    /// The file is on disk. `remarks`: its oddities, as codes of warnings.
    case stored(MediaFile, MediaFreshness, remarks: [MediaRemark])
    /// The stored file is still current.
    case unchanged(MediaFreshness)
    /// Permanent: another attempt would fail as well.
    case failed(MediaFailure)
    /// Temporary: another attempt may succeed, not before `after` if the server asked for a delay.
    case interrupted(MediaFailure, after: Duration?)
}

/// An oddity of a file that the gateway stores anyway.
package enum MediaRemark: String, Sendable, CaseIterable {
    /// The server's `Content-Type` differs from the type of the content.
    case contentType = "media.content-type-mismatch"
    /// The URL's extension differs from the type of the content.
    case fileExtension = "media.extension-mismatch"
}

/// Why a file is missing.
package struct MediaFailure: Error, Sendable, Equatable {
    /// Stable: events contain it as `reason`.
    package enum Code: String, Sendable, CaseIterable {
        /// Not a URL that can be downloaded, or not https.
        case url, scheme
        /// The egress policy forbids the address, possibly that of a redirect.
        case denied
        /// The connection failed: no address, no listener, no trusted certificate, or no answer in time.
        case dns, refused, tls, timeout
        /// Interrupted, not HTTP, or shorter than announced.
        case reset
        /// Another status than 200, 404 and 410.
        case status
        /// Status 404 or 410.
        case notFound = "not-found"
        /// More than three redirects, or one without a location.
        case redirects
        /// Larger than the limit of its kind.
        case tooLarge = "too-large"
        /// The body has no byte.
        case empty
        /// Compressed although the request asked for the identity encoding.
        case encoding
        /// Not an allowed type; HTML, SVG and programs have codes of their own.
        case type, html, svg, executable
        /// The gateway could not write the file, or the stored file has vanished.
        case storage
        /// The download took longer than the route waits.
        case late
        /// The gateway stopped before the download ended.
        case stopped
    }

    /// The kind of failure, for programs.
    package let code: Code
    /// The failure and its location, for people.
    package let words: String

    /// `words`: one sentence.
    package init(_ code: Code, _ words: String) { (self.code, self.words) = (code, words) }
}

/// The state of a URL's download.
package enum MediaState: Sendable, Equatable {
    /// Not downloaded yet.
    case pending
    /// Stored, even while the gateway revalidates it.
    case stored(MediaFile, remarks: [MediaRemark])
    /// The download failed permanently, or its retries ended.
    case failed(MediaFailure)
}

/// The files for which deliveries of an event wait.
package struct MediaWait: Sendable, Equatable {
    /// Each URL once, in the event's order.
    package var urls: [String]

    /// `urls`: each URL once.
    package init(urls: [String]) { self.urls = urls }
}

/// A delivery whose files are complete or whose waiting time is over.
package struct HeldDelivery: Sendable, Equatable {
    /// The queue's number of the delivery.
    package let delivery: Int64
    /// The queue's number of the event.
    package let event: Int64
    /// The destination of the delivery.
    package let destination: DestinationName
    /// The destination's form of the event, before its media are filled in.
    package let body: [UInt8]
    /// The state of each URL for which the event waits.
    package let media: ExactTextMap<MediaState>
    /// The route whose transformation applies once the media are filled in; nil for none.
    package let transformRoute: String?

    /// Takes the states as the store read them in one snapshot.
    package init(
        delivery: Int64, event: Int64, destination: DestinationName, body: [UInt8],
        media: ExactTextMap<MediaState>, transformRoute: String? = nil
    ) {
        (self.delivery, self.event, self.destination) = (delivery, event, destination)
        (self.body, self.media, self.transformRoute) = (body, media, transformRoute)
    }
}
