import Foundation
import SignalboxEgress
package import SignalboxNotification

/// Decides which URLs and files may be downloaded. Pure. The client's address policy applies in addition to it.
package struct MediaRules: Sendable, Equatable {
    /// Whether `http` URLs are allowed in addition to `https`.
    package var allowsHTTP = false
    /// The kinds to accept; by default those that apps attach to notifications.
    package var kinds = Set(MediaKind.attachments)
    /// The largest files of each family.
    package var limits = MediaLimits()

    /// How many redirects are followed.
    static let redirects = 3

    /// The largest file of a kind in bytes; nil when the kind is not allowed. Kinds without a family have no limit
    /// and are never allowed.
    package func maxBytes(of kind: MediaKind) -> Int? { kinds.contains(kind) ? kind.family.map { limits[$0] } : nil }

    /// The `Accept` header of requests. Lists the allowed kinds, and any other type with a low preference, because
    /// many servers ignore the header.
    var accept: String {
        MediaKind.allCases.filter(kinds.contains).map(\.contentType).joined(separator: ", ") + ", */*;q=0.1"
    }

    // MARK: Objections

    /// Why a URL must not be requested; nil when it may. Checks the URL only; the address of its host is checked when
    /// the connection is made.
    func objection(to url: OutboundURL) -> MediaFailure? {
        guard url.scheme == "https" || url.scheme == "http" else {
            return MediaFailure(.scheme, "\(url.scheme) is not https.")
        }
        guard url.scheme == "https" || allowsHTTP else {
            return MediaFailure(
                .scheme, "\(url.host) requires http, which is not encrypted; media.allowHttp permits it.")
        }
        guard !url.host.isEmpty else { return MediaFailure(.url, "The URL names no host.") }
        guard !url.hasUserinfo else {
            return MediaFailure(.url, "The URL at \(url.host) contains a user or a password; the gateway sends none.")
        }
        return nil
    }

    /// Why the body of a response must not be read; nil when it may. Checks encodings and the announced length. The
    /// kind is not known yet, so the largest limit of all kinds applies. Of several lengths, libcurl uses the last one,
    /// so the file might be cut.
    func objection(to head: ReplySink.Head, from host: String) -> MediaFailure? {
        let transfer = head.headers["transfer-encoding"] ?? ""
        let isPlain = transfer.isEmpty || transfer.lowercased() == "chunked"
        if let coding = isPlain ? head.headers["content-encoding"].flatMap(Self.encoding) : transfer {
            return MediaFailure(.encoding, "\(host) sends \(coding), although the request did not accept it.")
        }
        if let lengths = head.headers["content-length"], head.headers["transfer-encoding"] == nil,
            !Self.isOneNumber(lengths)
        {
            return MediaFailure(.reset, "\(host) announces no valid length, so the file may be incomplete.")
        }
        let most = MediaKind.allCases.compactMap(maxBytes).max() ?? 0
        return head.announcedBytes.flatMap { tooLarge($0, most, "", host) }
    }

    /// The value of `Content-Encoding` if it names a coding of the IANA registry other than `identity`. Object stores
    /// repeat what the uploader of a plain file wrote, such as `base64` or `utf-8`. A file that is encoded nevertheless
    /// is of no allowed kind.
    private static func encoding(_ text: String) -> String? {
        let names = text.lowercased().split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        return names.contains(where: codings.contains) ? text : nil
    }

    private static let codings: Set<String> = [
        "aes128gcm", "br", "compress", "dcb", "dcz", "deflate", "exi", "gzip", "pack200-gzip", "x-compress", "x-gzip",
        "zstd",
    ]

    /// Whether the values of all fields `Content-Length` are the same number (RFC 9112, 6.3). False for a number of
    /// more than 63 bits: libcurl ignores it and reads until the connection ends.
    private static func isOneNumber(_ text: String) -> Bool {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        let values = Set(parts.map { $0.trimmingCharacters(in: .whitespaces) })
        guard let value = values.first, values.count == 1, Int(value) != nil else { return false }
        return value.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    /// Why a file must not be stored; nil when it may. `bytes`: received or announced. Called with the announced and
    /// with the received size. The message names the option if one would allow the file.
    func objection(to kind: MediaKind, of bytes: Int, from host: String) -> MediaFailure? {
        if let most = maxBytes(of: kind) { return tooLarge(bytes, most, " of type \(kind.contentType)", host) }
        let (code, words): (MediaFailure.Code, String) =
            switch kind {
            case .html: (.html, "a page, not a file")
            case .svg: (.svg, "SVG, which can contain scripts")
            case .executable: (.executable, "a program")
            case .other: (.type, "a file of an unknown type")
            default: (.type, "a file of type \(kind.contentType), which media.types does not allow")
            }
        return MediaFailure(code, "\(host) sent \(words).")
    }

    /// The limit is inclusive. `what`: a suffix such as the type of the file.
    private func tooLarge(_ bytes: Int, _ most: Int, _ what: String, _ host: String) -> MediaFailure? {
        guard bytes > most else { return nil }
        return MediaFailure(.tooLarge, "\(host) has \(bytes) bytes or more\(what); media.maxBytes allows \(most).")
    }
}

extension MediaRemark {
    /// The contradictions between a file's content and its `Content-Type` and URL. A missing type or extension
    /// contradicts nothing. A remark does not keep the file from being stored.
    static func all(of kind: MediaKind, contentType: String?, url: OutboundURL) -> [MediaRemark] {
        var remarks: [MediaRemark] = []
        if let contentType {
            // Without parameters, and without the second value of a doubled header.
            let type = contentType.prefix { $0 != ";" && $0 != "," }.lowercased().trimmingCharacters(in: .whitespaces)
            if !unspecific.contains(type), !kind.contentTypes.contains(type) { remarks.append(.contentType) }
        }
        let name = url.path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        if let dot = name.lastIndex(of: ".") {
            let end = name[name.index(after: dot)...].lowercased()
            // A script that makes images may have any extension.
            let isKnown = MediaKind.allCases.contains { $0.family != nil && $0.fileExtensions.contains(end) }
            if isKnown, !kind.fileExtensions.contains(end) { remarks.append(.fileExtension) }
        }
        return remarks
    }

    /// Types that servers give to files of unknown type.
    private static let unspecific: Set<String> = [
        "", "application/octet-stream", "binary/octet-stream", "application/x-octet-stream", "application/binary",
        "application/unknown", "application/force-download", "application/download", "application/x-download",
        "content/unknown", "unknown/unknown", "*/*",
    ]
}
