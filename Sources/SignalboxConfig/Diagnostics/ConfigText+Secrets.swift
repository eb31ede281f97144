import SignalboxJSON

/// Excerpts of a config appear on terminals and in screenshots, so possible secrets are hidden in them.
extension ConfigText {
    /// How keys of Standard Webhooks begin.
    private static let keyPrefixes = ["whsec_", "whsk_"]

    /// A copy of the text for display. Asterisks replace possible secrets byte by byte, so that everything else keeps
    /// its position. Possible secrets are values that mistakes mark as such, keys of Standard Webhooks, and user names
    /// and passwords in any URL. `file`: index of this text in the config. Errs on the safe side: harmless text may be
    /// hidden as well.
    func hidingSecrets(of mistakes: [ConfigMistake], in file: Int) -> ConfigText {
        var shown = bytes
        for mistake in mistakes where mistake.mayBeSecret && mistake.file == file {
            guard let start = mistake.place?.lowerBound, shown.indices.contains(start) else { continue }
            for place in JSONPosition.whole(from: start, in: bytes) where !Self.isShown(shown[place]) {
                shown[place] = UInt8(ascii: "*")
            }
        }
        for prefix in Self.keyPrefixes {
            var start = 0
            while let found = shown[start...].firstRange(of: prefix.utf8) {
                start = found.upperBound
                while start < shown.count, Self.isOfKey(shown[start]) {
                    shown[start] = UInt8(ascii: "*")
                    start += 1
                }
            }
        }
        Self.hideUserinfo(in: &shown)
        return ConfigText(name: name, bytes: shown)
    }

    /// Hides the userinfo of all URLs (RFC 3986, 3.2.1), also in values that no option reads, and also if a password
    /// has invalid characters.
    private static func hideUserinfo(in shown: inout [UInt8]) {
        var start = 0
        while let slashes = shown[start...].firstRange(of: "://".utf8) {
            start = slashes.upperBound
            let end = shown[start...].firstIndex { "/\"\r\n".utf8.contains($0) } ?? shown.count
            guard let at = shown[start..<end].lastIndex(of: UInt8(ascii: "@")) else { continue }
            for position in start..<at { shown[position] = UInt8(ascii: "*") }
        }
    }

    /// Bytes that separate values. They stay visible, so the excerpt keeps its shape.
    private static func isShown(_ byte: UInt8) -> Bool { "\"{}[]:, \t\r\n".utf8.contains(byte) }

    /// Whether a key may contain the byte: Base64 (RFC 4648) in either alphabet.
    private static func isOfKey(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "-"),
            UInt8(ascii: "_"), UInt8(ascii: "="):
            true
        default: false
        }
    }
}
