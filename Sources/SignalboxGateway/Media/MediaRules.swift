import SignalboxEgress
package import SignalboxNotification

/// What may be downloaded, and how much of it. Pure.
package struct MediaRules: Sendable, Equatable {
    /// Whether `http` will do where `https` is not to be had.
    package var allowsHTTP = false
    package var kinds = Set(MediaKind.attachments)
    package var limits = MediaLimits()

    package init() {}

    /// How many redirects are followed.
    static let redirects = 3

    /// How large a file of this kind may be; nil when there may be none.
    package func maxBytes(of kind: MediaKind) -> Int? {
        kinds.contains(kind) ? kind.family.map { limits[$0] } : nil
    }

    /// What a server is asked to choose from.
    var accept: String {
        MediaKind.allCases.filter(kinds.contains).map(\.contentType).joined(separator: ", ") + ", */*;q=0.1"
    }

    // MARK: Objections

    func objection(to url: OutboundURL) -> MediaFailure? {
        guard url.scheme == "https" || url.scheme == "http" else {
            return MediaFailure(.scheme, "\(url.scheme) is not https.")
        }
        guard url.scheme == "https" || allowsHTTP else {
            return MediaFailure(
                .scheme, "\(url.host) is to be asked over http, which anybody can change; media.allowHttp permits it.")
        }
        guard !url.host.isEmpty else { return MediaFailure(.url, "The URL names no host.") }
        guard !url.hasUserinfo else {
            return MediaFailure(.url, "The URL at \(url.host) holds a user or a password; none is sent.")
        }
        return nil
    }

    /// What can be said before the content is there.
    func objection(to head: ReplySink.Head, from host: String) -> MediaFailure? {
        for name in ["content-encoding", "transfer-encoding"] {
            let plain = name == "content-encoding" ? "identity" : "chunked"
            if let coding = head.headers[name], !coding.isEmpty, coding.lowercased() != plain {
                return MediaFailure(.encoding, "\(host) sends \(coding), though it was asked for the file as it is.")
            }
        }
        let most = MediaKind.allCases.compactMap(maxBytes).max() ?? 0
        return head.announcedBytes.flatMap { tooLarge($0, most, "", host) }
    }

    /// `bytes`: as many as came, or were announced.
    func objection(to kind: MediaKind, of bytes: Int, from host: String) -> MediaFailure? {
        guard let most = maxBytes(of: kind) else {
            return MediaFailure(Self.code(of: kind), "\(host) sent \(Self.words(for: kind)).")
        }
        return tooLarge(bytes, most, " of type \(kind.contentType)", host)
    }

    private func tooLarge(_ bytes: Int, _ most: Int, _ what: String, _ host: String) -> MediaFailure? {
        guard bytes > most else { return nil }
        return MediaFailure(.tooLarge, "\(host) has \(bytes) bytes or more\(what); \(most) are taken (media.maxBytes).")
    }

    private static func code(of kind: MediaKind) -> MediaFailure.Code {
        switch kind {
        case .html: .html
        case .svg: .svg
        case .executable: .executable
        default: .type
        }
    }

    private static func words(for kind: MediaKind) -> String {
        switch kind {
        case .html: "a page, not a file"
        case .svg: "SVG, which can hold scripts"
        case .executable: "a program"
        case .other: "a file of an unknown type"
        default: "a file of type \(kind.contentType), which is not taken (media.types)"
        }
    }
}
