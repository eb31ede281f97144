/// The type of a file, determined by its content, not by its name or the server's header.
package enum MediaKind: String, Sendable, Hashable, CaseIterable {
    case png, jpeg, gif, webp, heic, avif
    case aiff, wav, mp3
    /// MPEG-4 with sound only.
    case m4a
    /// MPEG-4 with video, according to its brands.
    case mp4
    /// An MPEG program stream, or an MPEG-1 video elementary stream.
    case mpeg
    /// An MPEG-2 video elementary stream.
    case mpeg2
    /// An MPEG transport stream.
    case transportStream
    case quicktime, avi
    /// iCalendar.
    case calendar
    case html, svg
    /// XML that does not begin like HTML or SVG.
    case xml
    case pdf
    /// A program or script of any system.
    case executable
    /// A container of other files, possibly compressed.
    case archive
    case other

    /// The families with a size limit of their own.
    package enum Family: String, Sendable, Hashable, CaseIterable {
        case image, audio, video
    }

    /// Nil for other files. SVG is a document that can contain scripts, so it does not count as an image.
    package var family: Family? {
        switch self {
        case .png, .jpeg, .gif, .webp, .heic, .avif: .image
        case .aiff, .wav, .mp3, .m4a: .audio
        case .mp4, .mpeg, .mpeg2, .transportStream, .quicktime, .avi: .video
        case .calendar, .html, .svg, .xml, .pdf, .executable, .archive, .other: nil
        }
    }

    /// The MIME type with which the gateway serves such a file.
    package var contentType: String { contentTypes.first ?? Self.anyBytes }

    /// Every MIME type that servers use for it, in lower case and without parameters; the first one is
    /// ``contentType``.
    package var contentTypes: [String] {
        switch self {
        case .png: ["image/png", "image/x-png", "image/apng"]
        case .jpeg: ["image/jpeg", "image/jpg", "image/pjpeg"]
        case .gif: ["image/gif"]
        case .webp: ["image/webp"]
        case .heic: ["image/heic", "image/heif", "image/heic-sequence", "image/heif-sequence"]
        case .avif: ["image/avif", "image/avif-sequence"]
        case .aiff: ["audio/aiff", "audio/x-aiff", "audio/aifc", "audio/x-aifc"]
        case .wav: ["audio/wav", "audio/wave", "audio/x-wav", "audio/vnd.wave", "audio/x-pn-wav"]
        case .mp3: ["audio/mpeg", "audio/mp3", "audio/mpeg3", "audio/x-mpeg", "audio/x-mp3", "audio/x-mpeg-3"]
        case .m4a: ["audio/mp4", "audio/m4a", "audio/x-m4a", "audio/x-m4b", "audio/x-m4p"]
        case .mp4: ["video/mp4", "video/x-m4v", "audio/mp4", "application/mp4"]
        case .mpeg: ["video/mpeg", "video/mpg", "video/x-mpeg", "video/x-mpg", "video/mp2p"]
        case .mpeg2: ["video/mpeg2", "video/x-mpeg2", "video/mpeg"]
        case .transportStream: ["video/mp2t"]
        case .quicktime: ["video/quicktime"]
        case .avi: ["video/x-msvideo", "video/avi", "video/msvideo", "video/vnd.avi"]
        case .calendar: ["text/calendar"]
        case .html: ["text/html", "application/xhtml+xml"]
        case .svg: ["image/svg+xml"]
        case .xml: ["application/xml", "text/xml"]
        case .pdf: ["application/pdf"]
        case .executable, .archive, .other: [Self.anyBytes]
        }
    }

    /// The types that Apple's systems attach to notifications (UNNotificationAttachment), and WebP, which Android
    /// shows.
    package static let attachments: [MediaKind] = [
        .png, .jpeg, .gif, .webp, .aiff, .wav, .mp3, .m4a, .mp4, .mpeg, .mpeg2, .avi,
    ]

    private static let anyBytes = "application/octet-stream"

    /// The usual extension of a file's name, without a dot.
    package var fileExtension: String { fileExtensions.first ?? "bin" }

    /// Every usual extension, in lower case; the first one is ``fileExtension``. Empty for types without a usual
    /// extension.
    package var fileExtensions: [String] {
        switch self {
        case .png: ["png", "apng"]
        case .jpeg: ["jpg", "jpeg", "jpe", "jfif", "pjpeg", "pjp"]
        case .gif: ["gif"]
        case .webp: ["webp"]
        case .heic: ["heic", "heif", "heics", "heifs", "hif"]
        case .avif: ["avif", "avifs"]
        case .aiff: ["aiff", "aif", "aifc"]
        case .wav: ["wav", "wave"]
        case .mp3: ["mp3", "mpga"]
        case .m4a: ["m4a", "m4b", "m4p", "mp4"]
        case .mp4: ["mp4", "m4v", "mpg4", "m4a"]
        case .mpeg: ["mpg", "mpeg", "mpe", "m1v", "vob"]
        case .mpeg2: ["m2v", "mpg", "mpeg"]
        case .transportStream: ["ts", "m2t", "mts"]
        case .quicktime: ["mov", "qt"]
        case .avi: ["avi"]
        case .calendar: ["ics", "ical", "ifb"]
        case .html: ["html", "htm", "xhtml"]
        case .svg: ["svg"]
        case .xml: ["xml"]
        case .pdf: ["pdf"]
        case .executable, .archive, .other: []
        }
    }

    /// The kind with this MIME type as its ``contentType``, otherwise one whose ``contentTypes`` contain it; nil unless
    /// it is an image, audio or video type. `mediaType`: in lower case, without parameters.
    package init?(mediaType: String) {
        let media = Self.allCases.filter { $0.family != nil }
        guard
            let kind = media.first(where: { $0.contentType == mediaType })
                ?? media.first(where: { $0.contentTypes.contains(mediaType) })
        else { return nil }
        self = kind
    }

    /// The MIME type of images, audio and video by the extension of a file's name, in lower case without a dot.
    static let contentTypesByExtension: [String: String] = {
        let media = allCases.filter { $0.family != nil }
        var types = Dictionary(media.map { ($0.fileExtension, $0.contentType) }) { first, _ in first }
        for kind in media {
            for name in kind.fileExtensions where types[name] == nil { types[name] = kind.contentType }
        }
        return types
    }()
}
