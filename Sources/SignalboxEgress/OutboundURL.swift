internal import CCurl
import Foundation
package import SignalboxNotification

/// A URL as libcurl reads it, so that the URL that is checked is the URL that is requested.
package struct OutboundURL: Sendable, Hashable {
    /// The whole URL without a fragment; spaces and characters beyond ASCII are escaped.
    package let text: String
    /// In lower case.
    package let scheme: String
    /// As in the URL, an IPv6 address in brackets; empty for URLs without a host.
    package let host: String
    /// Escaped, from the first slash on.
    package let path: String
    /// True when the URL has a user or a password, even an empty one.
    package let hasUserinfo: Bool

    /// Nil unless the text is an absolute URL without control characters. Any scheme is allowed; callers check
    /// ``scheme`` themselves. Drops the fragment and escapes spaces.
    package init?(_ text: String) { self.init([text]) }

    /// Resolves a reference, such as that of a `Location`, against this URL (RFC 3986, 5); nil when it is malformed.
    /// An absolute reference replaces the whole URL, so the scheme and host may change.
    package func resolving(_ reference: String) -> OutboundURL? { OutboundURL([text, reference]) }

    /// libcurl resolves each text against those before it.
    private init?(_ texts: [String]) {
        guard let url = curl_url() else { preconditionFailure("Out of memory for a URL.") }
        defer { curl_url_cleanup(url) }
        let flags = UInt32(CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE | CURLU_ALLOW_SPACE)
        for text in texts {
            // C would stop at the NUL.
            guard !text.utf8.contains(0), curl_url_set(url, CURLUPART_URL, text, flags) == CURLUE_OK else { return nil }
        }
        curl_url_set(url, CURLUPART_FRAGMENT, nil, 0)
        guard let text = Self.part(CURLUPART_URL, of: url), let scheme = Self.part(CURLUPART_SCHEME, of: url) else {
            return nil
        }
        self.text = text
        self.scheme = scheme.lowercased()
        host = Self.part(CURLUPART_HOST, of: url) ?? ""
        path = Self.part(CURLUPART_PATH, of: url) ?? "/"
        hasUserinfo = Self.part(CURLUPART_USER, of: url) != nil || Self.part(CURLUPART_PASSWORD, of: url) != nil
    }

    /// One part as libcurl prints it; nil if the URL lacks the part.
    private static func part(_ part: CURLUPart, of url: OpaquePointer, _ flags: Int32 = 0) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(url, part, &text, UInt32(flags)) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }

    // MARK: Literal addresses

    /// The address that a URL's host spells, known without a resolver: for requests whose names a proxy resolves. Nil
    /// for other names and malformed URLs.
    ///
    /// libcurl reads the host, so decimal, octal and hexadecimal numbers and full-width digits count as addresses. A
    /// trailing dot does not matter, and `localhost` is loopback (RFC 6761, 6.3).
    package static func literalAddress(in text: String) -> IPAddress? {
        guard var host = host(in: text) else { return nil }
        while host.hasSuffix("."), host.count > 1 { host.removeLast() }
        // Read again, because the first reading may have produced the digits.
        host = Self.host(in: "http://\(host)/") ?? host
        if host == "localhost" || host.hasSuffix(".localhost") { return IPAddress(bytes: [127, 0, 0, 1]) }
        return IPAddress(host.trimmingCharacters(in: ["[", "]"]))
    }

    /// The host in lower case, as Punycode for names beyond ASCII; nil for a malformed URL.
    private static func host(in text: String) -> String? {
        guard let url = curl_url() else { preconditionFailure("Out of memory for a URL.") }
        defer { curl_url_cleanup(url) }
        guard curl_url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK else { return nil }
        return part(CURLUPART_HOST, of: url, CURLU_PUNYCODE)?.lowercased()
    }
}
