import SignalboxJSON
package import SignalboxNotification

extension GatewayConfig {
    /// Downloads of the images, audio and video that payloads link to.
    package struct Media: Sendable, Equatable {
        /// The largest file of each family, in bytes.
        package var maxBytes = MediaLimits()
        /// From the start of a download to its last byte, redirects included.
        package var timeout: Duration = .seconds(20)
        /// MIME types of stored files, each as `MediaKind.contentType` spells it.
        package var types = MediaKind.attachments.map(\.contentType)
        /// False to download https URLs only.
        package var allowHttp = false
        /// Special-purpose addresses that downloads may connect to.
        package var allow: [AddressRange] = []
        /// TLS and proxy of downloads.
        package var transport = TransportOptions()
        /// Most concurrent downloads, 1 to 1024.
        package var concurrency = 32
        /// At most ``concurrency``. Counts each combination of scheme, host and port.
        package var perHost = 8
        /// The attempts of one download.
        package var retry = Destination.Retry(attempts: 5, base: .seconds(2), max: .seconds(300))
        /// The limits on the age and the size of stored files.
        package var retention = Retention()
        /// The directory of the files, which all gateways of a store share; nil for `media` in the data directory.
        package var directory: String?
        /// Nil: every client that knows the name of a file may get it.
        package var signedUrls: SignedUrls?

        /// The defaults, without signed links.
        package init() {}

        /// How long files are stored.
        package struct Retention: Sendable, Equatable {
            /// Counts from the last use by an event.
            package var age: Duration = .seconds(30 * 86_400)
            /// Size of all files together.
            package var bytes: Int64 = 10_000_000_000
        }

        /// Signatures of links to stored files.
        package struct SignedUrls: Sendable, Equatable {
            /// Fewest bytes of a secret.
            static let shortestSecret = 16

            /// The first one signs; any of them is accepted.
            package var secrets: [SecretReference]
            /// Links end on a whole hour, so they are valid for this time rounded up.
            package var expiry: Duration = .seconds(7 * 86_400)
        }
    }
}

// MARK: Options

extension GatewayConfig.Media {
    /// Takes effect for routes that store media. `perHost` is lowered to `concurrency`.
    static let options = Section(GatewayConfig.Media()) {
        Option(
            "directory", \.directory, .path,
            "The directory of stored files. Gateways that share a database must share it too, for example by NFS. No other gateway may use it, because each deletes files that its queue does not name. A change needs a restart. Default: `media` in the data directory."
        )
        Option("maxBytes", \.maxBytes, .section(MediaLimits.options), "Largest files.")
        Option(
            "timeout", \.timeout, .duration(from: "10ms", to: "1h", example: "20s"),
            "From the start of a download to its last byte, redirects included.")
        Option(
            "types", \.types, mediaTypes,
            "Files to store, by content. Default: those that Apple's notifications can show, and `image/webp`.")
        Option("allowHttp", \.allowHttp, .flag, "Whether `http` URLs are downloaded too.")
        Option("allow", \.allow, .ranges, "Special-purpose addresses that downloads may connect to.")
        Option("tls", \.transport.tls, .section(TransportOptions.TLS.options), "TLS of downloads.")
        Option("proxy", \.transport.proxy, TransportOptions.Proxy.type, "The HTTP proxy of downloads.")
        Option("concurrency", \.concurrency, .whole(1...1024), "Concurrent downloads.")
        Option(
            "perHost", \.perHost, .whole(1...1024),
            "Concurrent downloads from one scheme, host and port; not more than `concurrency`.")
        Option(
            "retry", \.retry, .section(Destination.Retry.options(default: GatewayConfig.Media().retry)),
            "Retries of failed downloads.")
        Option("retention", \.retention, .section(Retention.options), "How long files are stored.")
        Option(
            "signedUrls", \.signedUrls, .section(SignedUrls.options),
            "Serves files only to clients with a signed link. Without it, every client that knows a link may get its file."
        )
    } check: { media, value, reader in
        if let perHost = value["perHost"], perHost.integer != nil, media.perHost > media.concurrency,
            !reader.mistaken.contains("concurrency")
        {
            reader.note(
                perHost, "this is more than \"concurrency\", \(media.concurrency), which counts for all hosts together")
        }
        media.perHost = min(media.perHost, media.concurrency)
    }

    /// Kinds of images, audio and video; not calendars.
    private static let known = MediaKind.allCases.filter { $0.family != nil }

    /// The types by ``MediaKind/contentType``, from any of their names.
    private static let mediaTypes = OptionType<String>.string("MIME type") { name in
        let advice = ConfigReader.suggestion(for: name.lowercased(), among: known.map(\.contentType))
        return "\"\(name.lowercased())\" is not a known image, audio or video type" + advice
    } _: {
        MediaKind(mediaType: $0.lowercased())?.contentType
    }.schema([
        "anyOf": [
            ["enum": .strings(known.flatMap(\.contentTypes))],
            ["type": "string", "pattern": "^(?=.*[A-Z])[A-Za-z]+/[A-Za-z0-9.+-]+$"],
        ]
    ]).set(
        of: "MIME types", 1...ConfigBounds.entries,
        orElse: "without a type nothing would be kept; name some, or leave \"types\" out for the usual ones"
    ) { "\"\($0)\" is listed twice, by this name or another; remove one" }
}

extension MediaLimits {
    /// From 1 byte to 1 GiB each.
    fileprivate static let options = Section(MediaLimits()) {
        Option("image", \.image, .size(1...(1 << 30), example: "10MB"), "Largest image.")
        Option("audio", \.audio, .size(1...(1 << 30), example: "5MB"), "Largest audio file.")
        Option("video", \.video, .size(1...(1 << 30), example: "50MB"), "Largest video.")
    }
}

extension GatewayConfig.Media.Retention {
    /// A file that a waiting delivery needs stays beyond either limit.
    fileprivate static let options = Section(GatewayConfig.Media.Retention()) {
        Option(
            "age", \.age, .duration(from: "1h", to: "3660d", example: "30d"),
            "How long to store a file after an event last used it.")
        Option(
            "bytes", \.bytes, .int64(.size(1_000_000...1_000_000_000_000_000, example: "10GB")),
            "Largest size of all files. Beyond it, the gateway removes the least recently used ones.")
    }
}

extension GatewayConfig.Media.SignedUrls {
    /// Old secrets stay in the list until the last link that they signed has expired.
    fileprivate static let options = Section(GatewayConfig.Media.SignedUrls(secrets: [])) {
        Option(
            "secret", \.secrets, .references,
            required: "signed URLs need a \"secret\" to sign with, such as \"env:MEDIA_URL_SECRET\"",
            "Signs links; at least 16 bytes. With several, the first one signs and each is accepted.")
        // Links end with a whole hour, so a shorter time would not be exact.
        Option(
            "expiry", \.expiry, .duration(from: "1h", to: "366d", example: "7d"),
            "How long a link is valid; rounded up to a whole hour.")
    }
}
