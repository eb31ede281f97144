package import SignalboxNotification

extension SecretResolver {
    /// The most bytes of a file of hashes: enough for 50,000 hashes.
    private static let largestList = 4 << 20

    /// The devices whose pushes each source forwards in the mode `only`, by the hashes of their tokens in events. Also
    /// reads the files of `upstream.tls`, so that a missing one is an error of the config. Throws for a file that
    /// cannot be read or is too large, and for a line that is not a hash.
    package func forwardedTokens(_ config: GatewayConfig) throws(ConfigRefusal) -> [SourceName: Set<String>] {
        var all: [SourceName: Set<String>] = [:]
        for (name, source) in config.sources {
            guard let upstream = source.upstream else { continue }
            let option = "/sources/\(name)/upstream"
            _ = try tlsFiles(upstream.transport.tls, option + "/tls")
            var tokens: Set<String> = []
            for (position, token) in upstream.tokens.enumerated() {
                switch token {
                case .hash(let hash): tokens.insert(hash)
                case .file(let path): try tokens.formUnion(hashes(in: path, "\(option)/tokens/\(position)"))
                }
            }
            all[name] = tokens
        }
        return all
    }

    /// The first word of each line. Ignores further words, empty lines, and lines that begin with `#`. The error names
    /// the line by its number, never by its text.
    private func hashes(in path: String, _ option: String) throws(ConfigRefusal) -> [String] {
        let bytes = try beginning(of: path, upTo: Self.largestList + 1, option)
        guard bytes.count <= Self.largestList else { throw refusal(option, "the file \(path) is larger than 4 MiB") }
        var hashes: [String] = []
        let lines = String(decoding: bytes, as: UTF8.self).split(omittingEmptySubsequences: false) { $0.isNewline }
        for (number, line) in lines.enumerated() {
            let line = line.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
            guard !line.isEmpty, !line.hasPrefix("#") else { continue }
            guard case .hash(let hash)? = GatewayConfig.Upstream.TokenReference(hash: line) else {
                // Without the line: it may be a device token in clear.
                throw refusal(
                    option, "line \(number + 1) of \(path) is not the hash of a device token, sha256: and 64 digits")
            }
            hashes.append(hash)
        }
        return hashes
    }
}
