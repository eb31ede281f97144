/// An image, audio or video file that a payload refers to.
package struct Media: Sendable, Equatable {
    /// The use of a file. Raw values are those of events.
    package enum Role: String, Sendable, CaseIterable {
        /// Shown with the notification.
        case attachment
        /// One picture of a carousel.
        case carousel
        /// In the background of an in-app page, or within it.
        case background
        /// A small picture next to the text.
        case icon
    }

    /// The state of the download. Raw values are those of events.
    package enum Status: String, Sendable, CaseIterable {
        /// `skipped`: not downloaded, or not in time. `failed`: permanently, with a ``MediaFailure``.
        case pending, stored, skipped, failed
    }

    /// As the payload spells it; not checked.
    package var url: String
    /// The use of the file in the notification.
    package var role: Role
    /// `pending`, or `skipped` without a download, in a new notification; ``EventMedia`` writes the result of the
    /// download.
    package var status: Status = .pending
    /// MIME type, if the payload specifies one.
    package var contentType: String?
    /// The family that the payload's key for the URL names, such as `image`; nil if the key may have any file.
    package var announced: MediaKind.Family?

    /// The family that the file should have, before it is downloaded: by the MIME type, the extension of the URL, the
    /// key or the role, in this order. Nil if none of them says.
    package var kind: MediaKind.Family? {
        if let family = contentType.flatMap({ MediaKind.Family(mediaType: $0) }) { return family }
        if let family = MediaKind.Family(extensionOf: url) ?? announced { return family }
        switch role {
        case .carousel, .icon: return .image
        case .attachment, .background: return nil
        }
    }
}

extension MediaKind.Family {
    /// The family of a MIME type, by its first half. SVG is a document, so it has none.
    init?(mediaType: String) {
        let type = mediaType.lowercased().utf8
        guard !type.starts(with: "image/svg".utf8),
            let family = Self.allCases.first(where: { type.starts(with: "\($0.rawValue)/".utf8) })
        else { return nil }
        self = family
    }

    /// The family by the extension of a URL's path; nil for an unknown one.
    init?(extensionOf url: String) {
        var url = url
        let name = url.withUTF8 { Self.pathExtension(of: $0) }
        guard let name, let family = Self.byExtension[name] else { return nil }
        self = family
    }

    /// The text after the last dot of a URL's path, if it is short enough.
    private static func pathExtension(of url: UnsafeBufferPointer<UInt8>) -> ExtensionName? {
        let path = url[..<(url.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? url.endIndex)]
        guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        // Two slashes end the scheme: the rest is a host.
        guard slash == 0 || url[slash - 1] != UInt8(ascii: "/") else { return nil }
        guard let dot = path[slash...].lastIndex(of: UInt8(ascii: ".")) else { return nil }
        return ExtensionName(path[(dot + 1)...])
    }

    /// An extension in one number, which is compared and found faster than a text. Ignores the case of ASCII letters.
    private struct ExtensionName: Hashable {
        private let bytes: UInt64

        /// Nil for an extension of more than seven bytes, which no kind has.
        init?(_ name: Slice<UnsafeBufferPointer<UInt8>>) {
            guard name.count <= 7 else { return nil }
            // The leading 1 distinguishes lengths.
            var bytes: UInt64 = 1
            for byte in UnsafeBufferPointer(rebasing: name) { bytes = bytes << 8 | UInt64(byte.lowercasedASCII) }
            self.bytes = bytes
        }

        /// Nil for an extension of more than seven bytes.
        init?(_ name: String) {
            var name = name
            guard let short = name.withUTF8({ Self($0[...]) }) else { return nil }
            self = short
        }
    }

    private static let byExtension: [ExtensionName: MediaKind.Family] = {
        let known = MediaKind.contentTypesByExtension.compactMap { name, type in
            ExtensionName(name).flatMap { name in Self(mediaType: type).map { (name, $0) } }
        }
        return Dictionary(uniqueKeysWithValues: known)
    }()
}

/// A stored file, named by the digest of its content, with the properties found in its own bytes.
package struct MediaFile: Sendable, Equatable {
    /// SHA-256, 64 lower-case hexadecimal digits.
    package var sha256: String
    /// Size of the file.
    package var bytes: Int
    /// MIME type, determined from the content.
    package var contentType: String
    /// In pixels.
    package var width: Int?
    /// In pixels.
    package var height: Int?
    /// Duration.
    package var milliseconds: Int?

    /// `sha256`: 64 lower-case hexadecimal digits.
    package init(
        sha256: String, bytes: Int, contentType: String, width: Int? = nil, height: Int? = nil,
        milliseconds: Int? = nil
    ) {
        (self.sha256, self.bytes, self.contentType) = (sha256, bytes, contentType)
        (self.width, self.height, self.milliseconds) = (width, height, milliseconds)
    }
}

/// The largest size of a downloaded file, in bytes. The defaults are the limits of `UNNotificationAttachment`.
package struct MediaLimits: Sendable, Equatable {
    /// The limit of pictures: 10 MiB.
    package var image = 10 << 20
    /// The limit of audio files: 5 MiB.
    package var audio = 5 << 20
    /// The limit of video files: 50 MiB.
    package var video = 50 << 20

    /// The longest URL that the gateway downloads or follows, in bytes.
    package static let longestURL = 8 * 1024

    /// The limits of Apple's systems.
    package init() {}

    /// The limit of a family.
    package subscript(family: MediaKind.Family) -> Int {
        switch family {
        case .image: image
        case .audio: audio
        case .video: video
        }
    }
}
