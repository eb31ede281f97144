extension MediaJob {
    /// Whose places a URL takes: scheme, host and port in lower case, without a port that the scheme has anyway. `?` where
    /// that cannot be told. Only tells hosts apart: who connects reads the URL properly.
    package static func host(of url: String) -> String {
        let bytes = url.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else {
            return "?"
        }
        let scheme = url[..<colon].lowercased()
        let rest = bytes[bytes.index(colon, offsetBy: 3)...]
        var authority = rest.prefix { !ends.contains($0) }
        if let at = authority.lastIndex(of: UInt8(ascii: "@")) { authority = authority[authority.index(after: at)...] }
        let host = Substring(authority).lowercased()
        guard !host.isEmpty else { return "?" }
        let port = scheme == "https" ? ":443" : scheme == "http" ? ":80" : nil
        let isUsual = port.map { host.hasSuffix($0) } ?? false
        return "\(scheme)://\(isUsual ? String(host.dropLast(port?.count ?? 0)) : host)"
    }

    /// What an authority ends with (RFC 3986, 3.2), and the backslash that some take for a slash.
    private static let ends: [UInt8] = [
        UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "\\"),
    ]
}
