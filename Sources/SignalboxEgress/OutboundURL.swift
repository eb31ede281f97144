internal import CCurl

/// A URL as libcurl reads it, so that what is judged is what is asked for.
package struct OutboundURL: Sendable, Hashable {
    /// The whole URL, without a fragment: blanks and what is not ASCII are escaped.
    package let text: String
    /// In lower case.
    package let scheme: String
    /// As it stands in the URL, an IPv6 address in brackets; empty where there is none, as in those of files.
    package let host: String
    /// Escaped, from the first slash on.
    package let path: String
    /// Whether it has a user or a password, be they empty.
    package let hasUserinfo: Bool

    /// Nil when it is no absolute URL, or holds control characters.
    package init?(_ text: String) { self.init([text]) }

    /// Where a reference such as that of a `Location` leads, seen from this URL (RFC 3986, 5); nil when nowhere.
    package func resolving(_ reference: String) -> OutboundURL? { OutboundURL([text, reference]) }

    /// libcurl takes each text as a reference from what came before.
    private init?(_ texts: [String]) {
        guard let url = curl_url() else { preconditionFailure("No memory for a URL.") }
        defer { curl_url_cleanup(url) }
        let flags = UInt32(CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE | CURLU_ALLOW_SPACE)
        for text in texts {
            // C would read no further than the NUL.
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

    private static func part(_ part: CURLUPart, of url: OpaquePointer) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(url, part, &text, 0) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}
