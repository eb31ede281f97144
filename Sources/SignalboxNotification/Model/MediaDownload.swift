package import Foundation

/// A URL that is to be downloaded, as the queue gives it out.
package struct MediaJob: Sendable, Equatable {
    /// The queue's, for as long as the URL is known.
    package let id: Int64
    package let url: String
    /// Whose places it takes: scheme, host and port, in lower case.
    package let host: String
    /// Failed downloads since it was wanted.
    package let attempts: Int
    /// What was kept of it before, to ask whether it has changed.
    package let validators: MediaValidators?

    package init(id: Int64, url: String, host: String, attempts: Int = 0, validators: MediaValidators? = nil) {
        self.id = id
        self.url = url
        self.host = host
        self.attempts = attempts
        self.validators = validators
    }
}

/// What a server said by which a later request can ask whether anything has changed (RFC 9110, 8.8).
package struct MediaValidators: Sendable, Equatable {
    package var etag: String?
    package var lastModified: String?

    package init(etag: String? = nil, lastModified: String? = nil) {
        self.etag = etag
        self.lastModified = lastModified
    }
}

/// What became of one download.
package enum MediaOutcome: Sendable, Equatable {
    /// It is on disk. `remarks`: what is odd about it, as codes of warnings.
    case stored(MediaFile, MediaFreshness, remarks: [MediaRemark])
    /// What is kept is still what the server has.
    case unchanged(MediaFreshness)
    /// Another attempt would fare no better.
    case failed(MediaFailure)
    /// Another attempt may fare better; not before `after`, where the server asked for that.
    case interrupted(MediaFailure, after: Duration?)
}

/// How long what was downloaded counts as what the server has, and how to ask then.
package struct MediaFreshness: Sendable, Equatable {
    package var validators: MediaValidators
    package var until: Date

    package init(validators: MediaValidators = MediaValidators(), until: Date) {
        self.validators = validators
        self.until = until
    }
}

/// Something odd about a file that is kept all the same.
package enum MediaRemark: String, Sendable, CaseIterable {
    /// The server's `Content-Type` says another type than the content.
    case contentType = "media.content-type-mismatch"
    /// The URL's extension says another type than the content.
    case fileExtension = "media.extension-mismatch"
}

/// Why a file is not there.
package struct MediaFailure: Error, Sendable, Equatable {
    /// Stable: stands in events as `reason`.
    package enum Code: String, Sendable, CaseIterable {
        /// Not a URL that can be downloaded, or not https.
        case url, scheme
        /// The address policy forbids the address, perhaps of a redirect.
        case denied
        case dns, refused, tls, timeout
        /// Broken off, or no HTTP, or shorter than announced.
        case reset
        /// Another status than 200; or 404 and 410.
        case status
        case notFound = "not-found"
        /// More than three, or one without a place to go to.
        case redirects
        /// Larger than its kind may be.
        case tooLarge = "too-large"
        case empty
        /// Compressed, though it was asked for as it is.
        case encoding
        /// Of no type that is allowed; HTML, SVG and programs have codes of their own.
        case type, html, svg, executable
        /// It could not be written here.
        case storage
        /// It took longer than the route waits.
        case late
        /// The gateway was stopped before it was there: no fault of the server's.
        case stopped
    }

    package let code: Code
    /// For people: what happened and where.
    package let words: String

    package init(_ code: Code, _ words: String) {
        self.code = code
        self.words = words
    }
}
