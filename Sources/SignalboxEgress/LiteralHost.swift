internal import CCurl
import Foundation
import SignalboxNotification

/// What can be known of a URL's host without asking anybody, for requests whose name a proxy resolves.
enum LiteralHost: Equatable {
    /// libcurl cannot make anything of the URL.
    case malformed
    /// A name that only a resolver knows.
    case name
    case address(IPAddress)

    /// Reads the host as libcurl does: decimal, octal and hexadecimal numbers are addresses too, and so are full-width
    /// digits. What ends in a dot is what stands before it, and `localhost` is loopback (RFC 6761, 6.3).
    init(ofURL text: String) {
        guard let first = Self.host(ofURL: text) else {
            self = .malformed
            return
        }
        // Again, because digits may only have come about by the first reading.
        let trimmed = Self.withoutTrailingDots(first)
        let host = Self.host(ofURL: "http://\(trimmed)/") ?? trimmed
        if host == "localhost" || host.hasSuffix(".localhost") {
            self = .address(IPAddress(bytes: [127, 0, 0, 1]))
        } else if let address = IPAddress(host.trimmingCharacters(in: ["[", "]"])) {
            self = .address(address)
        } else {
            self = .name
        }
    }

    private static func withoutTrailingDots(_ host: String) -> String {
        var host = host[...]
        while host.hasSuffix("."), host.count > 1 { host = host.dropLast() }
        return String(host)
    }

    private static func host(ofURL text: String) -> String? {
        guard let url = curl_url() else { preconditionFailure("No memory for a URL.") }
        defer { curl_url_cleanup(url) }
        guard curl_url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK else { return nil }
        var host: UnsafeMutablePointer<CChar>?
        guard curl_url_get(url, CURLUPART_HOST, &host, UInt32(CURLU_PUNYCODE)) == CURLUE_OK, let host else {
            return nil
        }
        defer { curl_free(host) }
        return String(cString: host).lowercased()
    }
}
